"""What judges are compared with: ratings by people, and true values, from a task's files."""

from recuse.references.of_task import SUMMARY, payloads_of, people_of, persons_of, reference_of

__all__ = ["SUMMARY", "payloads_of", "people_of", "persons_of", "reference_of"]
