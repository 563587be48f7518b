"""How often `importer mapping new` proposes the right target, over header rows whose right targets are known.

    python benchmarks/suggest.py [--wrong]

Reads benchmarks/suggest_headers.txt. Prints the share of columns with a correct proposal, and the number of wrong
proposals among the certain ones; with --wrong, each column with a wrong proposal. Exit code 1 unless at least 90 % are
right and no certain one is wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from importer.models import Operation, Question, Target
from importer.problems import Column
from importer.suggest import ColumnView, Proposal, SourceFacts, propose
from importer.suggest.proposal import ProposedEntries, ProposedValue

CASES = Path(__file__).parent / "suggest_headers.txt"
REQUIRED_SHARE = 0.9  # of the columns with a right target
NONE = "-"


def _question(number: int, line: str) -> Question:
    key, answer_type, kind, text, options = (part.strip() for part in line.split("|"))
    chosen = tuple(option.strip() for option in options.split(";") if option.strip())
    return Question(number, text, False, answer_type, chosen, key or None, kind or None)


def _questions(*lines: str) -> tuple[Question, ...]:
    return tuple(_question(number, line) for number, line in enumerate(lines, start=1))


_LINKS = ("linkedin", "github", "portfolio", "behance", "dribbble")
_PHONE = "phone | short_text | phone | Phone number |"
QUESTIONS = {
    "pool": (),
    "default": _questions(
        "photo | file_upload | photo | Your photo |",
        _PHONE,
        "address | short_text | address | Address |",
        *(f"{site} | url | {site}_url | {site.title()} |" for site in _LINKS),
        "language | short_text | language | Languages you speak |",
        "salary | integer | salary | Expected monthly salary |",
        "notice_weeks | decimal | | Notice period in weeks |",
        "available_from | date | | Available from |",
        "work_permit | yes_no | | Do you have a work permit? |",
        "level | single_choice | | Level | Junior; Mid; Senior; Lead",
        "skills | multiple_choice | | Skills | Python; Java; Go; SQL; Docker; Kubernetes; React; TypeScript",
        "cover_letter | long_text | | Cover letter |",
        "certificate | file_upload | | Certificate |",
        "how_heard | short_text | | How did you hear about us? |",
        "education | long_text | | Education |",
        "experience | long_text | | Work experience |",
    ),
    "turkish": _questions(
        "phone | short_text | phone | Telefon numaranız |",
        "birth_date | date | | Doğum tarihiniz |",
        "city | short_text | | Hangi şehirde yaşıyorsunuz? |",
        "gender | single_choice | | Cinsiyet | Kadın; Erkek; Belirtmek istemiyorum",
        "military | single_choice | | Askerlik durumu | Yapıldı; Muaf; Tecilli",
        "licence | yes_no | | Ehliyetiniz var mı? |",
        "salary | integer | salary | Ücret beklentiniz |",
        "work_type | single_choice | | Tercih ettiğiniz çalışma şekli | Tam zamanlı; Yarı zamanlı; Staj",
        "how_heard | short_text | | Bizi nereden duydunuz? |",
        "egitim | long_text | | Eğitim bilgileri |",
        "deneyim | long_text | | İş deneyimi |",
    ),
    "german": _questions(
        "phone | short_text | phone | Telefonnummer |",
        "address | short_text | address | Anschrift |",
        "birth_date | date | | Geburtsdatum |",
        "nationality | short_text | | Staatsangehörigkeit |",
        "start | date | | Wann können Sie anfangen? |",
        "salary | decimal | salary | Gehaltsvorstellung (brutto) |",
        "licence | yes_no | | Haben Sie einen Führerschein? |",
        "permit | yes_no | | Haben Sie eine Arbeitserlaubnis? |",
        "how_heard | short_text | | Wie sind Sie auf uns aufmerksam geworden? |",
    ),
    "plain": _questions(
        "phone | short_text | phone | Mobile number |",
        "linkedin | url | linkedin_url | LinkedIn |",
        "shift | single_choice | | Which shift do you prefer? | Day; Night; Any",
        "car | yes_no | | Do you own a car? |",
        "sales_years | integer | | Years worked in sales |",
    ),
}


@dataclass
class Case:
    """A header row with the right target of each column, in order."""

    name: str
    language: str
    questions: tuple[Question, ...]
    target: Target
    later: bool
    columns: list[ColumnView] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Judged:
    """One column: the right target, the proposed one ("-" for none), and whether it is certain."""

    case: Case
    header: str
    right: str
    proposed: str
    certain: bool


@dataclass(frozen=True)
class Score:
    """The figures of some columns."""

    rows: int
    wanted: int
    right: int
    certain: int
    certain_wrong: int
    uncertain_wrong: int

    @property
    def share(self) -> float:
        return self.right / self.wanted


def read_cases(path: Path = CASES) -> list[Case]:
    """The labeled header rows."""
    pools: dict[str, str] = {}
    cases: list[Case] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("$"):
            name, values = line.split(" = ", 1)
            pools[name] = values
        elif line.startswith("=="):
            cases.append(_case(line))
        elif line.strip() and not line.startswith("#"):
            _add_column(cases[-1], line, pools)
    return cases


def _case(line: str) -> Case:
    name, language, questions = (part.strip() for part in line.removeprefix("==").split("|"))
    pool = questions == "pool"
    target = Target(Operation.ADD_TO_POOL, "17") if pool else Target(Operation.APPLY, "4f2c9a")
    return Case(name.removesuffix("+ later").strip(), language, QUESTIONS[questions], target, name.endswith("+ later"))


def _add_column(case: Case, line: str, pools: dict[str, str]) -> None:
    header, label, values = (part.strip() for part in line.split(" | ", 2))
    texts = pools.get(values, values).split(";;")
    column = Column(len(case.columns), f"C{len(case.columns)}", header)
    case.columns.append(ColumnView(column, tuple((text, 3) for text in texts), 3 * len(texts)))
    case.labels.append(label)


def judge(case: Case) -> Iterator[Judged]:
    """Each column of a header row with its proposal."""
    proposal = propose(case.target, case.questions, case.columns, SourceFacts(case.name))
    found = {index: (name, certain) for index, name, certain in _targets(proposal)}
    for sampled, label in zip(case.columns, case.labels, strict=True):
        name, certain = found.get(sampled.column.index, (NONE, True))
        yield Judged(case, sampled.column.name, label, name, certain)


def _targets(proposal: Proposal) -> Iterator[tuple[int, str, bool]]:
    for item in proposal.candidate:
        full = any(setting.key == "part" for setting in item.value.settings)
        yield from _columns(item.value, "full_name" if full else item.name)
    for answer in proposal.answers:
        if isinstance(answer.content, ProposedEntries):
            for entry in answer.content.fields:
                ranged = any(setting.key == "part" for setting in entry.value.settings)
                yield from _columns(entry.value, f"{answer.content.kind}.{'range' if ranged else entry.name}")
        else:
            yield from _columns(answer.content, answer.question.label)


def _columns(value: ProposedValue, name: str) -> Iterator[tuple[int, str, bool]]:
    return ((column.index, name, not value.review_reason) for column in value.taken)


def score(judged: list[Judged]) -> Score:
    """The figures over these columns."""
    wanted = [item for item in judged if item.right != NONE]
    proposed = [item for item in judged if item.proposed != NONE]
    wrong = [item for item in proposed if item.proposed != item.right]
    return Score(
        rows=len({item.case.name for item in judged}),
        wanted=len(wanted),
        right=sum(item.proposed == item.right for item in wanted),
        certain=sum(item.certain for item in proposed),
        certain_wrong=sum(item.certain for item in wrong),
        uncertain_wrong=sum(not item.certain for item in wrong),
    )


def show(text: str) -> None:
    print(text)  # noqa: T201


def main() -> int:
    """Print the figures; returns 1 if the target is missed."""
    judged = [item for case in read_cases() for item in judge(case)]
    groups = {
        "all": judged,
        **{language: [item for item in judged if item.case.language == language] for language in ("en", "tr", "de")},
        "written later": [item for item in judged if item.case.later],
    }
    show(f"{'':14}{'rows':>6}{'columns':>9}{'right':>7}{'share':>8}{'certain':>9}{'wrong':>7}{'uncertain wrong':>16}")
    for name, items in groups.items():
        found = score(items)
        show(
            f"{name:14}{found.rows:>6}{found.wanted:>9}{found.right:>7}{found.share:>8.1%}{found.certain:>9}"
            f"{found.certain_wrong:>7}{found.uncertain_wrong:>16}"
        )
    if "--wrong" in sys.argv[1:]:
        for item in judged:
            if item.proposed != item.right:
                mark = "" if item.proposed == NONE else "CERTAIN" if item.certain else "uncertain"
                show(f"{item.case.name:22} {item.header:42} right {item.right:26} proposed {item.proposed:26} {mark}")
    whole = score(judged)
    return 0 if whole.share >= REQUIRED_SHARE and whole.certain_wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
