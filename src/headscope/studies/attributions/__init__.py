"""Importance of input tokens by eleven methods, from attention to gradients, all scored by one faithfulness test.

Kobayashi et al. 2020 and 2021; Abnar and Zuidema 2020; Mohebbi et al. 2023; DeYoung et al. 2020.
"""
