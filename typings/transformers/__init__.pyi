"""What headscope and its tests take from transformers, for pyright: the package itself imports all of its models."""

from transformers.configuration_utils import PreTrainedConfig as PreTrainedConfig
from transformers.masking_utils import AttentionMaskInterface as AttentionMaskInterface
from transformers.modeling_utils import AttentionInterface as AttentionInterface
from transformers.modeling_utils import PreTrainedModel as PreTrainedModel
from transformers.models.albert.configuration_albert import AlbertConfig as AlbertConfig
from transformers.models.albert.modeling_albert import (
    AlbertForSequenceClassification as AlbertForSequenceClassification,
)
from transformers.models.albert.modeling_albert import AlbertModel as AlbertModel
from transformers.models.auto.configuration_auto import CONFIG_MAPPING as CONFIG_MAPPING
from transformers.models.auto.configuration_auto import AutoConfig as AutoConfig
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_NEXT_SENTENCE_PREDICTION_MAPPING as MODEL_FOR_NEXT_SENTENCE_PREDICTION_MAPPING,
)
from transformers.models.auto.modeling_auto import MODEL_FOR_PRETRAINING_MAPPING as MODEL_FOR_PRETRAINING_MAPPING
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING as MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
)
from transformers.models.auto.modeling_auto import MODEL_MAPPING as MODEL_MAPPING
from transformers.models.auto.modeling_auto import AutoModel as AutoModel
from transformers.models.auto.modeling_auto import AutoModelForMaskedLM as AutoModelForMaskedLM
from transformers.models.auto.modeling_auto import (
    AutoModelForSequenceClassification as AutoModelForSequenceClassification,
)
from transformers.models.auto.tokenization_auto import AutoTokenizer as AutoTokenizer
from transformers.models.bart.configuration_bart import BartConfig as BartConfig
from transformers.models.bart.modeling_bart import BartForConditionalGeneration as BartForConditionalGeneration
from transformers.models.bart.modeling_bart import BartForSequenceClassification as BartForSequenceClassification
from transformers.models.bert.configuration_bert import BertConfig as BertConfig
from transformers.models.bert.modeling_bert import BertForMaskedLM as BertForMaskedLM
from transformers.models.bert.modeling_bert import BertForNextSentencePrediction as BertForNextSentencePrediction
from transformers.models.bert.modeling_bert import BertForPreTraining as BertForPreTraining
from transformers.models.bert.modeling_bert import BertForSequenceClassification as BertForSequenceClassification
from transformers.models.bert.modeling_bert import BertModel as BertModel
from transformers.models.bert.tokenization_bert import BertTokenizer as BertTokenizer
from transformers.models.deberta_v2.configuration_deberta_v2 import DebertaV2Config as DebertaV2Config
from transformers.models.deberta_v2.modeling_deberta_v2 import (
    DebertaV2ForSequenceClassification as DebertaV2ForSequenceClassification,
)
from transformers.models.deberta_v2.modeling_deberta_v2 import DebertaV2Model as DebertaV2Model
from transformers.models.distilbert.configuration_distilbert import DistilBertConfig as DistilBertConfig
from transformers.models.distilbert.modeling_distilbert import DistilBertForMaskedLM as DistilBertForMaskedLM
from transformers.models.eurobert.configuration_eurobert import EuroBertConfig as EuroBertConfig
from transformers.models.gpt2.configuration_gpt2 import GPT2Config as GPT2Config
from transformers.models.gpt2.modeling_gpt2 import GPT2ForSequenceClassification as GPT2ForSequenceClassification
from transformers.models.gpt2.modeling_gpt2 import GPT2LMHeadModel as GPT2LMHeadModel
from transformers.models.gpt2.modeling_gpt2 import GPT2Model as GPT2Model
from transformers.models.llama.configuration_llama import LlamaConfig as LlamaConfig
from transformers.models.llama.modeling_llama import LlamaForCausalLM as LlamaForCausalLM
from transformers.models.mistral.configuration_mistral import MistralConfig as MistralConfig
from transformers.models.mistral.modeling_mistral import MistralForCausalLM as MistralForCausalLM
from transformers.models.modernbert.configuration_modernbert import ModernBertConfig as ModernBertConfig
from transformers.models.mpnet.configuration_mpnet import MPNetConfig as MPNetConfig
from transformers.models.roberta.configuration_roberta import RobertaConfig as RobertaConfig
from transformers.models.t5.configuration_t5 import T5Config as T5Config
from transformers.models.t5.modeling_t5 import T5ForConditionalGeneration as T5ForConditionalGeneration
from transformers.pipelines import pipeline as pipeline
from transformers.tokenization_utils_base import BatchEncoding as BatchEncoding
from transformers.tokenization_utils_base import PreTrainedTokenizerBase as PreTrainedTokenizerBase
from transformers.tokenization_utils_tokenizers import PreTrainedTokenizerFast as PreTrainedTokenizerFast
from transformers.trainer import Trainer as Trainer
from transformers.trainer_callback import TrainerCallback as TrainerCallback
from transformers.trainer_callback import TrainerState as TrainerState
from transformers.training_args import TrainingArguments as TrainingArguments
