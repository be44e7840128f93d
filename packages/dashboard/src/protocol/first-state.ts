import type { SeriesMetric } from './entities.js';
import type { SeriesAnswer, Status, SwitchInfo } from './http.js';

/** What the page's first view needs: it is in the document, so that nothing has to be asked for before something is drawn. */
export interface FirstState {
  readonly status: Status;
  /** Of the whole network and the last minute, one for each of {@link FIRST_METRICS}. */
  readonly series: readonly SeriesAnswer[];
  /** Of the first switch, whose units stand for those of all; `null`: no switch is known. */
  readonly units: SwitchInfo['units'] | null;
}

/** Id of the element that holds it as JSON. */
export const FIRST_STATE_ID = 'first-state';
export const FIRST_METRICS: readonly SeriesMetric[] = ['reports', 'latencyP50', 'latencyP99'];
