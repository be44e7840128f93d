import type { ControlAnswer } from '../protocol/control.js';
import { ApiError } from '../server/api-error.js';
import type { Services, View } from '../server/routes.js';

/**
 * The state of the controller of a view.
 * @throws ApiError `ERR_UNAVAILABLE` if none runs, or the view is a replay
 */
export function liveControlOf(view: View, { live, control }: Pick<Services, 'live' | 'control'>): ControlAnswer {
  if (view !== live) throw new ApiError(404, 'ERR_UNAVAILABLE', 'a replay shows telemetry, and no controller');
  if (control === null) throw new ApiError(404, 'ERR_UNAVAILABLE', 'no controller runs here: int control runs one');
  return control;
}
