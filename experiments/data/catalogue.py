"""The catalogue: the data sets of the experiments, and their public sources.

Addresses name a commit wherever one is known, so that their content cannot change. Checksums of
files are given only for files that we have seen. The checksum of the rows, which all sources must
match, was computed from the files that PROVENANCE.md of the data folder describes.
"""

from __future__ import annotations

from typing import Any

from sklearn.datasets import load_digits, load_iris, load_wine

from experiments.data.entry import Entry, Source
from experiments.data.readers import (
    Delimited,
    Libsvm,
    Pieces,
    read_idx_pairs,
    read_mat,
    read_newsgroups,
    read_views,
)
from experiments.data.rows import Rows

GITHUB = "https://raw.githubusercontent.com"
UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass"
ESL = "https://hastie.su.domains/ElemStatLearn/datasets"

# Repositories that hold copies, at a commit.
NET = f"{GITHUB}/dmallon/net/a569f52a312b90234ceddf5e91b3b55947313219/data"
NET_GLASS = f"{GITHUB}/dmallon/net/ee7eb6648347c8fe45276a97ae7fca1b9ce77d36/data"
NET_LETTER = f"{GITHUB}/dmallon/net/f3f4cc4f9e6273e2ae5bd715f575b3230a8da305/data"
ADABOOST = f"{GITHUB}/loremo/AdaBoost/c2fd670dcd134aa3da3e2dba0d991d0b30c87ef2/data"
NODE_SVM = (
    f"{GITHUB}/nicolaspanel/node-svm/4575624d43ac733f41a6e68b60ba6fcce193dbf6/examples/datasets"
)
VEHICLES = (
    f"{GITHUB}/ashishkumar88/statisticallearningprojectonsvms/"
    "83d37c9d54dd03a058f6a526451287cbfb6c61a5"
)
SATELLITE = (
    f"{GITHUB}/YannisSch/Statlog_Landstat_Satellite_Project/"
    "6f31538326e860b63b09efdb43a0f76f3973ce29/data"
)
SDSNE = f"{GITHUB}/kunzhan/SDSNE/7b73af17118bf393f03108689f96caf993730247/data"
DEGREE = f"{GITHUB}/czhangnju/DEGREE/2a6b2962122d07e13c4bd36d0efbae113e3a3dfe/data"
L21FS = f"{GITHUB}/ma-xu/L21FS/HEAD/data"  # all five files at no commit that is known

TRAIN_TEST = (False, True)
VOWELS = {str(number): str(number + 1) for number in range(11)}  # UCI counts them from 0
JUNCTIONS = {1: "ei", 2: "ie", 3: "n"}
MNIST_FILES = tuple(
    f"{name}-ubyte.gz"
    for name in ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")
)
MNIST_HASHES = (
    "md5:f68b3c2dcbeaaa9fbdd348bbdeb94873",
    "md5:d53e105ee54ea40749a09fcbcd1e9432",
    "md5:9fb629c4189551a2d022fa330f9573f3",
    "md5:ec29112dd5afa0611ce80d1b7f02629c",
)


def _bundled(load: Any) -> Rows:
    bunch = load()
    return Rows(bunch.data, bunch.target)


def _files(base: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{base}/{name}" for name in names)


def _vehicles(base: str) -> Source:
    names = [f"xa{letter}.dat" for letter in "abcdefghi"]
    return Source(_files(base, *names), Pieces(Delimited(None)))


def _mnist(base: str) -> Source:
    return Source(_files(base, *MNIST_FILES), read_idx_pairs, MNIST_HASHES)


CATALOGUE = {
    "iris": Entry(
        "iris",
        "float32",
        150,
        4,
        3,
        "d76b0ba09911e7227d281cfcf36a97c0e8d273201fa1c4bcb303ac2932e547eb",
        bundled=lambda: _bundled(load_iris),
    ),
    "wine": Entry(
        "wine",
        "float32",
        178,
        13,
        3,
        "1fbb6b34ba56c41e0fee56f540fa900cf8d6073156806e89bff7b2ebcfd62f8d",
        bundled=lambda: _bundled(load_wine),
    ),
    "digits": Entry(
        "digits",
        "float32",
        1797,
        64,
        10,
        "19a22c44ed2f7679de989b41a3dbf544a402456b14df46d25a505c8a62d24111",
        bundled=lambda: _bundled(load_digits),
        note="Digits of scikit-learn, 8 x 8: no set of the paper, for miniatures only.",
    ),
    "glass": Entry(
        "glass",
        "float32",
        214,
        9,
        6,
        "35fd6de54a61c5e80414aa03136e68799a522ab15857bd34882e405bb41aaecf",
        (
            Source(
                _files(NET_GLASS, "glass.data"),
                Pieces(Delimited(",", features=(1, 10), skip=1)),
            ),
            Source(
                _files(UCI, "glass/glass.data"),
                Pieces(Delimited(",", features=(1, 10))),
            ),
        ),
    ),
    "vehicle": Entry(
        "vehicle",
        "float32",
        846,
        18,
        4,
        "fa34fc6114e04ddd98dcbcd3c24d2fc85c5cb1d2c55b313fd583882730f58e2c",
        (_vehicles(VEHICLES), _vehicles(f"{UCI}/statlog/vehicle")),
    ),
    "vowel": Entry(
        "vowel",
        "float32",
        990,
        10,
        11,
        "5091699acff4d04635c123e5fcc9f1586b36988dbebb732b1ae4c38ee2d7ad3d",
        (
            Source(
                _files(ADABOOST, "vowel-context.data"),
                Pieces(Delimited(None, features=(3, 13), test=0, labels=VOWELS)),
            ),
            Source(
                _files(ESL, "vowel.train", "vowel.test"),
                Pieces(Delimited(",", features=(2, 12), label=1, skip=1), TRAIN_TEST),
            ),
        ),
    ),
    "dna": Entry(
        "dna",
        "float32",
        3186,
        180,
        3,
        "247f89d2a2c8fd032d4ea32d907380fa0fb7587702f7e51f09f2d09633af9714",
        (
            Source(
                _files(LIBSVM, "dna.scale", "dna.scale.t"),
                Pieces(Libsvm(180, JUNCTIONS), TRAIN_TEST),
            ),
        ),
    ),
    "svmguide2": Entry(
        "svmguide2",
        "float32",
        391,
        20,
        3,
        "d2459c1541743375fe75460e85252babfd0eefb79d966e92cc38d704ce706525",
        (
            Source(_files(NODE_SVM, "svmguide2.ds"), Pieces(Libsvm(20))),
            Source(_files(LIBSVM, "svmguide2"), Pieces(Libsvm(20))),
        ),
    ),
    "svmguide4": Entry(
        # Features of 1e-12: float32 has them too, with other digits.
        "svmguide4",
        "float64",
        612,
        10,
        6,
        "4d1c90ad06547bca073c95da5abd32b35f839d788976f43dd1a671d5d9a24c74",
        (
            Source(
                _files(NODE_SVM, "svmguide4.ds", "svmguide4.t.ds"), Pieces(Libsvm(10), TRAIN_TEST)
            ),
            Source(_files(LIBSVM, "svmguide4", "svmguide4.t"), Pieces(Libsvm(10), TRAIN_TEST)),
        ),
    ),
    "satimage": Entry(
        "satimage",
        "float32",
        6435,
        36,
        6,
        "01690bca2acac7f699cef8873384ae73c24281e4ad67006ab358b33f16ee0cca",
        (
            Source(
                _files(SATELLITE, "sat.trn", "sat.tst"),
                Pieces(Delimited(None, skip=1), TRAIN_TEST),
            ),
            Source(
                _files(UCI, "statlog/satimage/sat.trn", "statlog/satimage/sat.tst"),
                Pieces(Delimited(None), TRAIN_TEST),
            ),
        ),
    ),
    "segment": Entry(
        "segment",
        "float32",
        2310,
        19,
        7,
        "96d67cefba9bfaeb91c65aff7367ea188cf489627f653843c2328fc2498687bc",
        (
            Source(_files(ADABOOST, "segment.dat"), Pieces(Delimited(None))),
            Source(_files(UCI, "statlog/segment/segment.dat"), Pieces(Delimited(None))),
        ),
    ),
    "usps": Entry(
        "usps",
        "float32",
        9298,
        256,
        10,
        "413d07d7525e0507ffcdef0e6ac4739f95812748ad1ee87d0e0a94b94b8879db",
        (
            Source(
                _files(ESL, "zip.train.gz", "zip.test.gz"),
                Pieces(Delimited(None, features=(1, 257), label=0), TRAIN_TEST),
            ),
        ),
    ),
    "pendigits": Entry(
        "pendigits",
        "float32",
        10992,
        16,
        10,
        "bac622da9a4ac4704418579d315baab067c550fd1e9a6065d53b3a0c7d804dec",
        (
            Source(
                _files(NET, "pendigits.tra", "pendigits.tes"),
                Pieces(Delimited(",", skip=1), TRAIN_TEST),
            ),
            Source(
                _files(UCI, "pendigits/pendigits.tra", "pendigits/pendigits.tes"),
                Pieces(Delimited(","), TRAIN_TEST),
            ),
        ),
    ),
    "letter": Entry(
        "letter",
        "float32",
        20000,
        16,
        26,
        "0b0ec0a0ec54a3f512101f0eea7145f49993985dc884d6efdd98374916e72d8b",
        (
            Source(
                _files(NET_LETTER, "letter-recognition.data"),
                Pieces(Delimited(",", features=(1, None), label=0, skip=1, train_rows=16000)),
            ),
            Source(
                _files(UCI, "letter-recognition/letter-recognition.data"),
                Pieces(Delimited(",", features=(1, None), label=0, train_rows=16000)),
            ),
        ),
    ),
    "isolet": Entry(
        "isolet",
        "float32",
        7797,
        617,
        26,
        "5ea9e470909489c714d606fa40f9c653aa6d73d0b8093122bd42e7c682eddb3d",
        (
            Source(
                _files(L21FS, *(f"Isolet{part}.mat" for part in range(1, 5)), "isolet5.mat"),
                Pieces(read_mat, (False, False, False, False, True), (1, 2, 3, 4, 5)),
            ),
        ),
        advice="UCI has the same rows as isolet1+2+3+4.data.Z and isolet5.data.Z.",
    ),
    "mnist": Entry(
        "mnist",
        "uint8",
        70000,
        784,
        10,
        "4923efc2eb2b100d569f5192b36601903a140af51e957a3ab2544442324ca1be",
        (
            _mnist("https://ossci-datasets.s3.amazonaws.com/mnist"),
            _mnist("https://storage.googleapis.com/cvdf-datasets/mnist"),
        ),
    ),
    "news20": Entry(
        "news20_bydate_noheader_counts",
        "uint16",
        18846,
        30815,
        20,
        "8e83b7957335f44114c28c14f25e58985a55315473b9eaeb9d1f8130adc06ca2",
        (
            Source(
                ("https://ndownloader.figshare.com/files/5975967",),  # as scikit-learn has it
                read_newsgroups,
                ("sha256:8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",),
            ),
        ),
        note=(
            "20 Newsgroups by date, headers removed, as counts of words: replaces LIBSVM's news20, "
            "which has other words and another split."
        ),
    ),
    "reuters52": Entry(
        "reuters_r52_counts",
        "uint16",
        9100,
        21952,
        52,
        "1de6f4148d596b5cc5a1341c370f1e8545f198db79949fa9c9138b826dc04ef5",
        note="Reuters-21578 R52 as counts of words: replaces rcv1.multiclass, which has different data.",
        advice=(
            "These are our own counts, of no published file: words of title and body in the "
            "articles of Reuters-21578 with exactly one topic, ModApte split, classes with a row "
            "in both parts, words of letters only, without stop words, that occur in training."
        ),
    ),
    "leaves100": Entry(
        "leaves100",
        "float32",
        1600,
        192,
        100,
        "69fa2f2723c513b238500c0d8fae1396e8f4b1563c28c17890a3306337f68786",
        (
            Source(_files(SDSNE, "100leaves.mat"), Pieces(read_views)),
            Source(_files(DEGREE, "100leaves.mat"), Pieces(read_views)),
        ),
        note=(
            "One hundred plant species leaves: replaces sector, which has 105 classes of text. One "
            "row of texture may have been imputed by the publishers."
        ),
    ),
}
