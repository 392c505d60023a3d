"""Geometry of hidden states: anisotropy, how similar a word stays across contexts, norms, and similar layers.

Ethayarajh 2019; Mickus et al. 2020; Timkey and van Schijndel 2021; Kornblith et al. 2019. Nothing is trained.
"""

from headscope.study import Cost, InSurvey, Number, Study

MICKUS, KORNBLITH = "Mickus et al. 2020, section 5", "Kornblith et al. 2019, section 3"
TIMKEY, OUTLIERS = "Timkey and van Schijndel 2021, section 3", "Kovaleva et al. 2021, section 3"
INTRA = "mean cosine of the tokens of an input with their mean (intra-sentence)"
SELF = "mean cosine of the occurrences of a token (self-similarity)"
EXPLAINED = "maximum explainable variance of a token"
PAIR = "mean cosine of two occurrences of a token"
CLS = "mean cosine of the [CLS] of two inputs of different documents"
ALIGNMENT = "linear centred kernel alignment of"
TOP = "number, from 1, of the dimension that adds most to the anisotropy"
FAR = "dimensions whose mean is more than 3 standard deviations from that of all"


def by_space(
    name: str, what: str, unit: str = "cosine", dims: tuple[str, ...] = (), source: str | None = None, exact: str = ""
) -> tuple[Number, Number]:
    """A number of each layer, and of the embeddings that enter the first one."""
    return (
        Number(name, what, unit, ("layer", *dims), source, exact),
        Number(f"embeddings_{name}", f"{what}, in the embeddings", unit, dims, source),
    )


STUDY = Study(
    question="How do hidden states lie in space, and what does context change?",
    source="Ethayarajh 2019",
    survey=InSurvey("text", Cost(1, 0.13, 0.3)),
    required=("anisotropy",),
    numbers=(
        *by_space("anisotropy", "mean cosine of two random tokens of different documents (anisotropy)"),
        *by_space("top_dimension", TOP, "dimension", ("dimension_rank",), TIMKEY),
        *by_space(
            *("top_dimension_share", "share of the anisotropy that this dimension adds", "share"),
            ("dimension_rank",),
            TIMKEY,
        ),
        *by_space("anisotropy_without_top", "anisotropy without its 3 top dimensions", source=TIMKEY),
        *by_space("outlier_dimensions", FAR, "dimensions", source=OUTLIERS),
        *by_space("norm_std", "standard deviation of the length of random tokens", "length"),
        *by_space("intra_sentence", INTRA),
        *by_space("intra_sentence_corrected", f"{INTRA} minus anisotropy"),
        *by_space("norm", "length of a token's vector", "length", exact="length of a token's vector, mean over inputs"),
        *by_space("self_similarity", SELF, exact=f"{PAIR}, then the mean over tokens with 5 or more"),
        *by_space("self_similarity_corrected", f"{SELF} minus anisotropy"),
        *by_space(
            *("explained_variance", EXPLAINED, "share"),
            exact="largest squared singular value of a token's occurrences, divided by the sum of all",
        ),
        *by_space("explained_variance_corrected", f"{EXPLAINED} minus that of as many random tokens", "share"),
        *by_space("position_similarity", f"{PAIR}, by the difference of their positions", "cosine", ("gap",), MICKUS),
        *by_space(
            *("segment_similarity", f"{PAIR}, in the same segment, and in different ones", "cosine"),
            ("segments",),
            MICKUS,
        ),
        Number("alignment", f"{ALIGNMENT} two layers", "alignment", ("layer", "other_layer"), KORNBLITH),
        Number("embeddings_alignment", f"{ALIGNMENT} a layer with the embeddings", "alignment", ("layer",), KORNBLITH),
        Number(
            *("model_alignment", f"{ALIGNMENT} a layer with a layer of the other model", "alignment"),
            ("layer", "other_layer"),
            KORNBLITH,
        ),
        Number("cls_similarity", CLS, "cosine", ("layer",)),
        Number("cls_similarity_centred", f"{CLS} minus the mean [CLS]", "cosine", ("layer",)),
        Number("cls_shared", "share of the squared length of [CLS] that is the mean [CLS]", "share", ("layer",)),
    ),
)
