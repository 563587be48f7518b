"""The step Target."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from importer.models import Question
from tests.cli.conftest import Served, candidate, write_csv
from tests.web import walk
from tests.web.client import Shown
from tests.web.conftest import Pages
from tests.web.test_file_step import EXPORT
from tests.web.test_runs import live, people

Start = Callable[..., Pages]


def at_target(found: Pages) -> Shown:
    """The step Target of the import that was opened."""
    return found.client.send(found.first.form("/file/use"))


def test_the_questions_of_a_rehearsal_come_from_the_sandbox(pages: Start) -> None:
    """They are shown with what is required; the next step is named by their number."""
    found = pages(file=EXPORT, sandbox=True)
    shown = found.client.send(at_target(found).form("/target"), kind="job", target="4f2c9a")
    assert "Phone number phone * required short text (phone)" in shown.text
    assert "As the sandbox asks them" in shown.text
    assert "importer questions 4f2c9a --sandbox --out" in shown.text


def test_a_rehearsal_uses_the_questions_of_the_real_service(pages: Start, serve: Callable[..., Served]) -> None:
    """What the real service asks is kept for the rehearsal, which then needs no example questions."""
    served = serve()
    found = pages({"IMPORTER_BASE_URL": served.sandbox.base_url, "IMPORTER_TOKEN": "t0ken"}, file=EXPORT)
    shown = found.client.send(at_target(found).form("/target"), kind="job", target="4f2c9a")
    assert "As the real service asks them now." in shown.text
    shown = found.client.send(shown.form("/rehearsal"))
    assert "--sandbox --questions" in shown.text
    shown = found.client.send(shown.form("/target"), kind="job", target="4f2c9a", again="yes")
    assert "As the real service asks them now." in shown.text


def test_a_wrong_target_is_said_at_its_field(pages: Start) -> None:
    """What is not a hash or a number stays in the field; a job post that does not exist is a problem of the page."""
    found = pages(file=EXPORT, sandbox=True)
    shown = found.client.send(at_target(found).form("/target"), kind="pool", target="4f2c9a")
    assert "'4f2c9a' is not a valid talent pool ID" in shown.text
    assert shown.form("/target").fields["target"] == "4f2c9a"
    assert "#target" in shown.links
    shown = found.client.send(shown.form("/target"), kind="job", target="nowhere")
    assert "There is a problem" in shown.text
    assert "Match" in shown.text
    assert "Get the questions" in shown.text


def test_a_job_post_is_known_by_its_address_and_another_one_is_asked(pages: Start) -> None:
    """The main button uses what is in the field: it goes on only if the questions of that target are known."""
    found = pages(file=EXPORT, sandbox=True)
    first = "https://recruiting.example.com/jobs/4f2c9a/?from=mail"
    shown = found.client.send(at_target(found).form("/target"), kind="job", target=first)
    assert shown.form("/target").fields["target"] == "4f2c9a"
    assert found.client.send(shown.form("/target"), again="").address.partition("?")[0].endswith("/match")
    shown = found.client.get(shown.address)
    shown = found.client.send(shown.form("/target"), kind="pool", target="17", again="")
    assert shown.address.partition("?")[0].endswith("/target")
    assert "talent pool 17" in shown.text


def test_another_target_or_reading_is_not_sent_with_the_old_mapping(pages: Start, serve: Callable[..., Served]) -> None:
    """A mapping names its target and how the file is read: after a change of either it is to be looked at again."""
    served = serve()
    file = write_csv(served.door.folder / "people.csv", [candidate(1), candidate(2)])
    found = pages(live(served), file=file)
    walk.to_check(found)
    shown = found.client.send(found.client.get(walk.address(found, "file")).form("/file"), skip_rows="2")
    assert "Your mapping is kept" in shown.text
    shown = found.client.send(shown.form("/file/use"))
    walk.propose(found)
    shown = found.client.send(found.client.get(walk.address(found, "target")).form("/target"), kind="pool", target="17")
    assert "Your mapping is kept" in shown.text
    assert "First finish the step Match." in found.client.get(walk.address(found, "check")).text


def test_other_questions_of_the_same_target_are_matched_again(pages: Start, tmp_path: Path) -> None:
    """The mapping is kept, without the answers that are not asked any more."""
    found = pages(file=people(tmp_path, 2), sandbox=True)
    shown = walk.to_match(found)
    drafts = found.server.web.drafts
    draft = drafts.get(found.first.address.split("/")[2])
    assert draft is not None
    rank = Question(99, "Rank", False, "short_text", (), "rank", None)
    drafts.keep_questions(draft, (*drafts.questions(draft), rank))
    form = next(form for form in shown.forms if "do" in form.fields)
    found.client.send(form, do="constant", id="answers/rank", value="first")
    form = found.client.get(walk.address(found, "target")).form("/target")
    shown = found.client.send(form, target="4f2c9a", again="yes")
    assert "Your mapping is kept" in shown.text
    shown = found.client.get(walk.address(found, "match"))
    assert "rank: {value: first}" not in shown.html
