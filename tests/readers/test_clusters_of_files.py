"""Texts that share their errors are one cluster: turns of a talk, and copies of a text under other ids."""

from __future__ import annotations

import numpy as np
import pytest

from recuse.metrics.human_ceiling import human_ceiling
from recuse.readers import read_file
from recuse.readers.repeated_rows import SHORT


def talks(column, levels=20, each=15, seed=1):
    draw = np.random.default_rng(seed)
    rows = [f"item,{column},anna,ben,gpt-4o"]
    for k in range(levels * each):
        rows.append(f"t{k},c{k // each}," + ",".join(str(n) for n in draw.integers(1, 6, 3)))
    return "\n".join(rows)


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("column", [
    "conversation_id", "thread", "thread_id", "session", "dialogue", "topic", "topic_id", "doc_id", "document_id",
    "source", "customer_id",
])  # fmt: skip
def test_several_items_of_one_talk_or_topic_are_a_cluster(file, column):
    read = read_file(file("a.csv", talks(column)))
    assert (read.mapping.cluster, read.mapping.slices) == (column, ())
    assert len(set(read.ratings.array().clusters)) == 20


def test_a_few_topics_are_slices_and_a_few_talks_are_clusters(file):
    assert read_file(file("a.csv", talks("topic", 6, 40))).mapping.slices == ("topic",)
    assert read_file(file("b.csv", talks("thread", 6, 40))).mapping.cluster == "thread"


@pytest.mark.parametrize("people", [2, 3])
def test_what_each_annotator_has_of_their_own_groups_no_texts(file, people):
    rows = [f"t{k},p{n},s{n},{(k + n) % 3 + 1},{k % 3 + 1}" for k in range(60) for n in range(people)]
    read = read_file(file("a.csv", "\n".join(["item,annotator,session_id,label,gpt-4o", *rows])))
    assert (read.mapping.cluster, read.mapping.slices) == ("", ())
    assert read.ratings.array().items == tuple(f"t{k}" for k in range(60))


def test_a_raters_other_answer_is_no_slice_of_texts(file):
    rows = [f"t{k // 2},{'xy'[k % 2]},{who},{k % 5 + 1},{word}" for k in range(60)
            for who, word in (("anna", ("good", "bad")[k % 2]), ("gpt-4o", ("good", "bad")[k % 3 > 0]))]  # fmt: skip
    read = read_file(file("a.csv", "\n".join(["item,system,rater,score,verdict", *rows])))
    assert read.mapping.slices == ()
    assert "verdict" in read.mapping.ignored


def test_turns_of_a_conversation_are_items_of_a_cluster(file):
    rows = ["conversation_id,turn,anna,gpt-4o", *(f"c{k // 5},{k % 5},{k % 5 + 1},{k % 4 + 1}" for k in range(100))]
    read = read_file(file("a.csv", "\n".join(rows)))
    assert read.mapping.item == ("conversation_id", "turn")
    assert read.mapping.cluster == "conversation_id"
    assert len(set(read.ratings.array().clusters)) == 20


def test_ids_that_begin_anew_in_every_thread_are_told_apart_by_the_texts(file):
    rows = ["id,thread,reply,anna,gpt-4o"]
    rows += [f"{k % 5},th{k // 5},This is reply number {k} of the file.,{k % 5 + 1},{k % 4 + 1}" for k in range(100)]
    read = read_file(file("a.csv", "\n".join(rows)))
    assert (read.mapping.item, read.mapping.cluster) == (("id", "thread"), "thread")
    assert read.ratings.table["item"].nunique() == 100
    assert set(read.ratings.table["repeat"]) == {0}


def copied(times, texts=40, seed=1, prompt=False):
    draw = np.random.default_rng(seed)
    header = "ticket,reply,anna,ben,gpt-4o"
    once = [
        (f"Reply number {k}, which is long enough to know it again.", *np.clip(np.round(
            3 + draw.normal() + 0.6 * draw.normal(size=3)), 1, 5).astype(int)) for k in range(texts)
    ]  # fmt: skip
    rows = [
        f't{n}-{k},"{text}",{",".join(map(str, marks))}' for n in range(times) for k, (text, *marks) in enumerate(once)
    ]
    if prompt:
        header = "ticket,question,reply,anna,ben,gpt-4o"
        rows = [row.replace(",", f",What is the answer to question {n} of the list of questions?,", 1)
                for n, row in enumerate(rows)]  # fmt: skip
    return "\n".join([header, *rows])


def test_copies_of_texts_under_other_ids_make_no_interval_shorter(file):
    once, five = (read_file(file(f"{n}.csv", copied(n))) for n in (1, 5))
    assert five.ratings.table["item"].nunique() == 200
    assert any("40 texts under several ids" in note for note in five.notes)
    assert not any("several ids" in note for note in once.notes)
    one, many = (human_ceiling(read.ratings).of(judge="gpt-4o") for read in (once, five))
    assert many.value == pytest.approx(one.value, abs=0.05)
    assert many.high - many.low >= 0.9 * (one.high - one.low)


def test_one_answer_to_two_questions_is_no_copy(file):
    read = read_file(file("a.csv", copied(5, prompt=True)))
    assert read.ratings.clusters == "items"


def test_raters_own_words_make_no_copies(file):
    rows = [f"t{k},{who},{k % 5 + 1},Reply number {k % 20} which is long enough to know it again; {who}"
            for k in range(40) for who in ("anna", "ben", "gpt-4o")]  # fmt: skip
    for texts, clusters in ((rows, 40), ([row.rsplit("; ", 1)[0] for row in rows], 20)):
        read = read_file(file("a.csv", "\n".join(["item,rater,score,text", *texts])))
        assert len(set(read.ratings.array().clusters)) == clusters


@pytest.mark.parametrize(("letters", "clusters"), [(3, "items"), (SHORT - 1, "items"), (SHORT, "texts")])
def test_short_texts_may_be_alike(file, letters, clusters):
    rows = [f"t{k},{'yn'[k % 2] * letters},{k % 5 + 1},{k % 4 + 1}" for k in range(40)]
    table = file("a.csv", "\n".join(["id,reply,anna,gpt-4o", *rows]))
    assert read_file(table, text="reply").ratings.clusters == clusters


def test_copies_join_the_clusters_that_they_are_from(file):
    rows = [
        f't{k},c{k // 4},"A reply that is long enough, number {k % 76}.",{k % 5 + 1},{k % 4 + 1}' for k in range(80)
    ]
    read = read_file(file("a.csv", "\n".join(["item,conversation_id,reply,anna,gpt-4o", *rows])))
    clusters = dict(zip(read.ratings.array().items, read.ratings.array().clusters, strict=True))
    assert clusters["t0"] == clusters["t3"] == clusters["t76"]
    assert len(set(clusters.values())) == 19
