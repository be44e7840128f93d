import { useEffect, useState } from 'preact/hooks';
import type { ControlAnswer } from '../../client/index.js';
import { type Answered, useAnswer } from './answers.js';
import { client, status, useLive } from './connection.js';
import { replay } from './location.js';

/** The state of the controller as long as a view shows it: as it comes, after it was asked for once. */
export function useControl(): Answered<ControlAnswer> {
  const isThere = controlAbsence() === null;
  const asked = useAnswer('control', isThere ? (signal) => client.control({ signal }) : null);
  const [live, setLive] = useState<ControlAnswer | null>(null);
  useEffect(() => setLive(null), [isThere]);
  useLive(isThere ? { type: 'control' } : null, (message) => {
    if (message.type === 'control') setLive(message.data);
  });
  const data = live ?? asked.data;
  return { ...asked, data, error: data === null ? asked.error : null };
}

/** Why there is no controller to show; `null`: there may be one. */
export function controlAbsence(): string | null {
  if (replay.value !== null) {
    return 'A replay shows telemetry as it was. Incidents and the controller are of the live network: press b to go back to it.';
  }
  if (status.value === null || status.value.has.control) return null;
  return 'No controller runs here: this is a collector alone. The command int control watches a network for incidents, and changes it.';
}

/** Why this viewer may give no orders; `null`: he may. */
export function orderRefusal(): string | null {
  if (status.value === null) return 'the dashboard does not answer';
  return status.value.readOnly ? 'this dashboard is read only: it shows the controller, and takes no orders' : null;
}
