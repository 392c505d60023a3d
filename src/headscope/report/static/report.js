/** The script of all pages of reports. */

import { startAtlases } from "./atlas.js";
import { startCharts } from "./charts.js";
import { startDownloads } from "./csv.js";
import { startFolds } from "./folds.js";
import { startSorting } from "./table_order.js";

startCharts();
startSorting();
startDownloads();
startFolds();
startAtlases();
