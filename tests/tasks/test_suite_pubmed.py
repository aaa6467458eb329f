import gzip
import zipfile

import pytest

from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.suite_pubmed import PACKAGE, RECENT, read_papers

RECORD = """
<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><Article>
<Journal><JournalIssue><Volume>3</Volume><PubDate>{date}</PubDate></JournalIssue>
<Title>Brain</Title></Journal><ArticleTitle>{title}.</ArticleTitle>
<Abstract><AbstractText NlmCategory="METHODS">{methods}</AbstractText>
<AbstractText NlmCategory="CONCLUSIONS">It <i>works</i>.</AbstractText></Abstract>
<AuthorList><Author><LastName>Abel</LastName><ForeName>Jane</ForeName></Author>
<Author><CollectiveName>A group</CollectiveName></Author></AuthorList>
<Language>{language}</Language></Article>
<MeshHeadingList><MeshHeading><DescriptorName MajorTopicYN="N">Sleep</DescriptorName>
<QualifierName MajorTopicYN="Y">physiology</QualifierName></MeshHeading>
<MeshHeading><DescriptorName MajorTopicYN="N">Humans</DescriptorName></MeshHeading>
</MeshHeadingList><KeywordList><Keyword>Sleep.</Keyword></KeywordList>
</MedlineCitation></PubmedArticle>
"""


def record(pmid, **changes):
    usual = {
        "title": f"Sleep <i>after</i> stroke {pmid}",
        "date": "<Year>2021</Year>",
        "language": "eng",
        "methods": "They slept. " * 40,
    }
    return RECORD.format(pmid=pmid, **(usual | changes))


@pytest.fixture
def read(tmp_path):
    def from_records(*records):
        archive = tmp_path / "papers.whl"
        contents = f"<PubmedArticleSet>{''.join(records)}</PubmedArticleSet>"
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr(RECENT, gzip.compress(contents.encode()))
        return read_papers(Archives({PACKAGE: archive}), RECENT)

    return from_records


def test_a_record_is_read_as_it_is(read):
    (paper,) = read(record("1"))
    assert paper.title == "Sleep after stroke 1"
    assert paper.authors == ("Abel, Jane",)
    assert (paper.year, paper.journal, paper.volume) == ("2021", "Brain", "3")
    assert paper.headings == {"Sleep"}
    assert paper.keywords == ("sleep",)
    assert paper.conclusions == "It works."
    assert paper.abstract == f"{paper.before_conclusions} It works."


def test_a_year_is_found_in_a_range_of_months(read):
    date = "<MedlineDate>2018 Jul-Aug</MedlineDate>"
    assert read(record("1", date=date))[0].year == "2018"


@pytest.mark.parametrize(
    "lacking",
    [
        {"language": "ger"},
        {"date": ""},
        {"title": ""},
        {"title": "Sleep {and} dreams"},
        {"methods": "They slept."},
    ],
)
def test_records_that_are_not_whole_are_left_out(read, lacking):
    assert [paper.pmid for paper in read(record("1", **lacking), record("2"))] == ["2"]


def test_a_title_that_occurs_twice_names_no_work(read):
    twins = record("1", title="Sleep, again"), record("2", title="Sleep again")
    assert [paper.pmid for paper in read(*twins, record("3"))] == ["3"]
