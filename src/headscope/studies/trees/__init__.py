"""Trees read off attention alone: dependencies by spanning trees, phrases by the distances of neighbouring words.

Raganato and Tiedemann 2018; Htut et al. 2019; Kim et al. 2020. Nothing is trained.
"""
