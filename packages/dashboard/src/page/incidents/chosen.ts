import type { IncidentRow } from '../../client/index.js';
import { Filter, FilterError } from '../../filter/index.js';
import { network, unitOfMetric } from '../state/network.js';

interface Chosen {
  readonly passes: (row: IncidentRow) => boolean;
  /** Fields that decide nothing. */
  readonly ignored: readonly string[];
}

/** The filter of all views, as far as it is of incidents. A text that cannot be read chooses all. */
export function chosenBy(text: string): Chosen {
  try {
    const wanted = new Filter(text);
    const names = new Map(network.value?.switches.map(({ id, name }) => [id, name]));
    const known = { switchName: (id: number) => names.get(id) ?? null, unit: unitOfMetric };
    return { passes: (row) => wanted.passesIncident(row, known), ignored: wanted.ignored('incident') };
  } catch (error) {
    if (FilterError.is(error)) return { passes: () => true, ignored: [] };
    throw error;
  }
}
