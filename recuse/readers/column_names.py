"""What people call the columns of a table of ratings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence

ROLES = (
    "item", "target", "criterion", "cluster", "text", "rater", "kind", "value", "repeat", "gold", "author", "reason",
    "first", "second", "order", "count",
)  # fmt: skip

NAMES: Mapping[str, tuple[str, ...]] = {
    "item": (
        "item", "item_id", "itemid", "example_id", "example", "sample_id", "sample", "question_id", "qid", "question",
        "case_id", "case", "prompt_id", "ticket_id", "ticket", "task_id", "doc_id", "document_id", "instance_id",
        "instance", "conversation_id", "record_id", "row_id", "custom_id", "uid", "uuid", "id", "idx", "index", "key",
        "instruction", "input", "query", "prompt_text",
    ),
    "target": (
        "target", "system", "system_id", "model", "model_id", "bot", "candidate", "assistant", "generator", "variant",
        "answer_model", "system_name", "model_name", "version", "output_id", "response_id", "answer_id", "response",
        "completion_id", "provider", "modell", "modelo", "modele", "policy",
    ),
    "criterion": (
        "criterion", "criteria", "metric", "dimension", "aspect", "attribute", "rubric", "scorer", "axis",
        "elicitation", "elicited_by", "protocol",
    ),
    "cluster": (
        "cluster", "topic", "category", "subset", "domain", "group", "story", "conversation", "session", "document",
        "source", "dataset", "section", "customer", "account", "topic_id", "story_id", "source_id", "group_id",
        "cluster_id", "customer_id", "account_id", "user_id", "document_id", "doc_id", "article_id", "essay_id",
        "passage_id", "video_id", "page_id", "author_id", "patient_id", "student_id",
    ),
    "text": (
        "text", "reply", "response", "output", "answer", "completion", "summary", "generation", "content", "message",
        "response_text", "output_text", "answer_text", "actual_output", "model_output",
    ),
    "rater": (
        "rater", "judge", "reviewer", "annotator", "grader", "evaluator", "labeler", "labeller", "worker",
        "judge_model", "rater_id", "annotator_id", "worker_id", "reviewer_id", "judge_name", "user", "who",
        "email_address", "email", "e_mail", "e_mail_address", "username", "user_name", "respondent", "coder",
        "completed_by", "annotated_by", "rated_by", "scored_by", "graded_by", "judged_by", "evaluated_by", "labeled_by",
        "labelled_by", "reviewed_by", "created_by", "annotator_email", "annotator_name", "rater_name", "rater_email",
        "reviewer_name", "reviewer_email", "grader_name", "evaluator_name", "evaluator_id", "grader_id", "coder_id",
        "evaluator_model", "annotator_model", "grader_model", "bewerter", "bewerterin",
        "prufer", "gutachter", "annotateur", "evaluateur", "correcteur", "anotador",
        "evaluador", "revisor", "avaliador", "valutatore", "revisore", "annotatore", "beoordelaar", "評価者", "评价者",
        "평가자",
    ),
    "kind": ("kind", "rater_type", "rater_kind", "judge_type", "annotator_type", "human_or_model"),
    "value": (
        "score", "rating", "value", "label", "verdict", "grade", "judgment", "judgement", "decision", "passed", "pass",
        "result", "response", "winner", "preference", "choice", "vote", "outcome", "success", "answer", "values",
        "punkte", "bewertung", "urteil", "wertung", "puntuacion", "calificacion", "nota", "pontuacao", "punteggio",
        "voto", "jugement", "評価", "得分", "评分", "점수",
    ),
    "repeat": ("repeat", "rep", "run", "trial", "attempt", "iteration", "repetition", "epoch", "replicate"),
    "gold": (
        "gold", "gold_label", "gold_score", "truth", "ground_truth", "is_chosen", "chosen", "correct", "is_correct",
        "reference", "expected", "true_label", "reference_score", "label_true",
    ),
    "author": ("author", "written_by", "writer"),
    "reason": ("reason", "rationale", "explanation", "comment", "justification", "feedback", "critique", "reasoning",
               "comments", "reasons", "note", "notes", "remark", "remarks"),
    "first": (
        "first", "model_a", "a", "left", "system_a", "answer_a", "response_a", "output_1", "generator_1", "model_1",
        "candidate_a", "option_a", "model1", "bot_a",
    ),
    "second": (
        "second", "model_b", "b", "right", "system_b", "answer_b", "response_b", "output_2", "generator_2", "model_2",
        "candidate_b", "option_b", "model2", "bot_b",
    ),
    "order": ("order",),
}  # fmt: skip
"""Role -> names in plain form, the surest first."""

WINNERS = ("winner", "preference", "choice", "vote", "verdict", "result", "response", "decision", "score", "label")
COUNTS = ("count", "n", "weight", "weights", "counts", "freq", "frequency", "n_items", "occurrences")
"""Columns that may say how many items a row stands for: the first two do where nothing else names items."""
CRITERIA = (
    "faithfulness", "groundedness", "relevancy", "relevance", "precision", "recall", "correctness", "helpfulness",
    "harmlessness", "harmfulness", "coherence", "fluency", "similarity", "toxicity", "conciseness", "completeness",
    "tone", "politeness", "accuracy", "safety", "hallucination", "consistency", "clarity", "usefulness", "factuality",
    "quality", "empathy", "style", "usability", "naturalness", "overall",
)  # fmt: skip
"""What ratings are about. Several columns that are called so, and after nobody, are criteria of one rater."""
PARTS = (
    "turn", "turn_id", "turn_index", "step", "message_index", "message_id", "segment", "segment_id", "seg_id", "seg",
    "sentence", "sentence_id", "sent_id", "paragraph", "paragraph_id", "chunk", "chunk_id",
)  # fmt: skip
"""Columns that number the parts of an item."""
TALKS = (
    "conversation_id", "conversation", "thread_id", "thread", "dialogue_id", "dialogue", "dialog_id", "dialog",
    "session_id", "chat_id", "chat", "conv_id", "ticket_thread",
)  # fmt: skip
"""Columns that say which texts were written in one talk: these share its errors, however few talks there are."""
BATCHES = (
    "batch", "batch_id", "part", "shard", "split", "fold", "half", "assignment", "assignment_group", "round", "wave",
    "queue", "block",
)  # fmt: skip
"""Columns that say by whom or when texts were to be judged."""
PROMPTS = (
    "prompt", "question", "query", "input", "instruction", "context", "user_input", "user_message", "request",
    "prompt_text", "question_text",
)  # fmt: skip
"""Columns with what a text answers: the same answer to another question is another text."""
FACTORS = (
    "names", "direction", "labels", "version", "judge_version", "rubric_source",
    "prompt", "prompt_version", "template", "temperature", "temp", "condition",
    "framing", "language", "lang", "setting", "style", "mode", "top_p", "prompt_name", "variant_prompt",
)  # fmt: skip

SETS = ("response_set", "response_sets", "all_that_apply", "all_reasonable", "all_right", "admissible")
"""Columns and criteria whose ratings are sets of options, also where nobody names two."""

JUDGES = (
    "judge", "llm", "gpt", "claude", "sonnet", "haiku", "opus", "gemini", "gemma", "llama", "mistral", "mixtral",
    "qwen", "deepseek", "grok", "command", "phi", "model", "auto", "ai", "bot", "palm", "bard", "vicuna", "o1", "o3",
    "o4", "kimi", "nova", "jamba", "glm", "yi", "prometheus", "eval", "modell", "modelo", "modele", "prediction",
    "predicted", "pred", "ki", "ia", "juge", "juez", "juiz", "giudice", "rechter", "richter", "autograder", "automatic",
    "automated", "perspective", "yz", "ии",
)  # fmt: skip
PEOPLE = (
    "human", "humans", "person", "people", "annotator", "expert", "labeler", "labeller", "crowd", "reviewer", "doctor",
    "editor", "sme", "volunteer", "participant", "assessor", "lawyer", "nurse",
    "you", "your", "user", "customer", "coder", "moderator", "annotation",
    "mensch", "gutachter", "gutachterin", "experte", "expertin", "humain", "annotateur", "evaluateur", "humano",
    "anotador", "evaluador", "experto", "annotatrice", "correcteur", "correctrice", "relecteur", "evaluadora",
    "revisor", "revisora", "avaliador", "avaliadora", "valutatore", "valutatrice", "revisore", "annotatore", "umano",
    "beoordelaar", "bewerter", "bewerterin", "prufer", "pruferin", "teacher", "lehrer", "tutor", "professor", "ta",
    "manual", "worker", "respondent", "listener", "mos", "oceniajacy", "experts", "annotators", "reviewers", "doctors",
    "annotations", "turker", "turkers", "workers", "labelers", "radiologist", "physician", "degerlendirici", "оценщик",
    "эксперт", "асессор", "المقيم", "hodnotitel", "bedomare",
)
NAMED_ON = ("gpt", "claude", "llama", "qwen", "gemini", "模型", "大模型", "모델")
"""Judges' names go on without a sign between: gpt4o, 模型评分 (the model's score). People's as well:"""
CALLED_ON = ("評価者", "人間", "人工", "标注", "评价者", "专家", "평가자", "사람")  # fmt: skip


DERIVED = (
    "majority", "majority_vote", "majority_label", "consensus", "consensus_label", "adjudicated", "adjudication",
    "aggregate", "aggregated", "aggregated_label", "average", "avg", "mean", "median", "mode", "final", "final_label",
    "final_score", "resolved", "overall_average", "voted", "vote_share", "std", "stdev", "variance", "agreement",
    "diff", "difference", "delta", "spread", "gap",
)  # fmt: skip
"""Columns and raters that are made of several raters' answers."""
ATTRIBUTES = (
    "confidence", "certainty", "logprob", "id", "no", "nr", "number", "n", "count", "name", "version", "temperature",
    "temp", "seed", "prompt", "type", "kind", "role", "status", "needed", "years", "tier", "votes", "upvotes", "likes",
    "views", "turns", "words", "position", "age", "year", "month", "week", "day", "hour", "page", "zip", "retries",
    "errors", "weight", "size", "minutes", "duration", "ms", "segment", "country", "email", "annotators", "ratings",
    "raters", "seq",
)  # fmt: skip
"""Last words of columns that hold no ratings, even after a rater's name."""
PROPERTIES = (
    "difficulty", "priority", "severity", "level", "importance", "urgency", "risk", "hardness", "complexity", "length",
    "reviewed", "flagged", "resolved", "escalated", "checked", "edited", "archived", "duplicate",
)  # fmt: skip
"""Last words of columns that tell what a text is like; after a rater's name, what was rated."""
WHOSE = ("human", "humans", "people", "annotator", "annotators", "crowd", "expert", "rating", "score", "label")
SUFFIX = ("_score", "_label", "_rating", "_verdict", "_grade", "_judgment", "_judgement", "_vote", "_result")
LONGEST_NAME = 4
"""A column's name of more words is a sentence."""

ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.[a-z]{2,}", re.IGNORECASE)
"""An address for mail, which only people have."""
SCRIPTS = re.compile(r"(?<=[a-z0-9])(?=[\u3040-\u9fff\uac00-\ud7a3])|(?<=[\u3040-\u9fff\uac00-\ud7a3])(?=[a-z0-9])")
"""Where letters of Latin meet Japanese, Chinese or Korean ones: another word begins."""
NUMBERED = re.compile(r"^(.+?)(?:\.|_r|_run_?|_rep_?|_repeat_?)(\d{1,3})$")


def plain(name: str) -> str:
    """A column's name in plain form: "Item ID" is item_id, "judgeModel" judge_model, "Évaluateur" evaluateur."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip())
    if not spaced.isascii():
        bare = "".join(c for c in unicodedata.normalize("NFKD", spaced) if not "\u0300" <= c <= "\u036f")
        spaced = SCRIPTS.sub("_", unicodedata.normalize("NFC", bare).lower())
    return re.sub(r"[\W_]+", "_", spaced.lower()).strip("_")


def _parts(name: str) -> list[str]:
    return [re.sub(r"\d+$", "", part) or part for part in plain(name).split("_")] + plain(name).split("_")


def is_judge(name: str) -> bool:
    """Whether a rater is called as models are; a human eval is people's."""
    parts = _parts(name)
    called = [part for part in parts if part in JUDGES or part.startswith(NAMED_ON)]
    return bool(called) and not ({*called} == {"eval"} and is_person(name))


def is_person(name: str) -> bool:
    """Whether a rater is called as people are, or is an address for mail."""
    called = any(part in PEOPLE or part.startswith(CALLED_ON) for part in _parts(name)) or "ground_truth" in plain(name)
    return called or bool(ADDRESS.fullmatch(name.strip()))


def is_criterion(name: str) -> bool:
    """Whether a column is called after what is rated, and after nobody who rates."""
    return any(part in CRITERIA for part in _parts(name)) and not (is_judge(name) or is_person(name))


def is_date(name: str) -> bool:
    """Whether a column is called as times, costs and lengths are, which are nobody's ratings."""
    parts = plain(name).split("_")
    if len(parts) > LONGEST_NAME:
        return False  # a question, whose words say nothing of the kind of its answers
    return parts[-1] == "at" or any(part in (
        "date", "time", "created", "updated", "timestamp", "cost", "tokens", "latency", "words", "length", "chars",
        "usd", "seconds",
    ) for part in parts)  # fmt: skip


def is_attribute(name: str) -> bool:
    """Whether a column says something of a text, a rater or a request, whoever's name it bears: gpt_confidence,
    annotator_count, model_version. Nobody's ratings are called so."""
    parts = plain(name).split("_")
    counted = parts in (["annotators"], ["raters"])
    return is_date(name) or counted or (1 < len(parts) <= LONGEST_NAME and parts[-1] in ATTRIBUTES)


def is_nobodys(name: str) -> bool:
    """The same, and names of properties that could be rated, where no rater's name stands before them."""
    return is_attribute(name) or plain(name).rsplit("_", 1)[-1] in (*ATTRIBUTES, *PROPERTIES)


def is_derived(name: str) -> bool:
    """Whether a column or rater is called after what is made of several raters' answers: majority, human_mean."""
    word = plain(name)
    bare = "_".join(part for part in word.split("_") if part not in WHOSE)
    return word in DERIVED or bare in DERIVED


def rater_name(column: str) -> str:
    """The rater's name in that of a column: gpt for gpt_score."""
    for suffix in SUFFIX:
        if plain(column).endswith(suffix) and len(column) > len(suffix):
            return column[: -len(suffix)].rstrip(" _-.") or column
    return column


SIDES = (("a", "b"), ("0", "1"), ("1", "2"), ("first", "second"), ("left", "right"), ("one", "two"))
"""How the two columns of a pair are told apart."""


def told_apart(names: Collection[str]) -> list[tuple[str, str]]:
    """Pairs of names that differ in the word for a side alone: reply_a and reply_b, left_model and right_model,
    answer1_body and answer2_body."""
    pairs = []
    for one, other in (*SIDES, ("chosen", "rejected")):
        side = re.compile(rf"(?:(?:^|(?<=_)){one}|(?<=[a-z]){one if one.isdigit() else '(?!)'})(?=_|$)")
        pairs += [
            (name, changed)
            for name in names
            if (changed := side.sub(other, name, count=1)) != name and changed in names
        ]
    return pairs


def base_of(name: str, names: Sequence[str]) -> str:
    """anna for anna.1 where the names hold another column of hers; else the name itself."""
    match = NUMBERED.match(name)
    if match and sum(bool((o := NUMBERED.match(n)) and o[1] == match[1]) for n in names) + (match[1] in names) > 1:
        return match[1]
    return name
