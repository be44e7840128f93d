/** What is known of the switches as named values: units, and names of switches and ports. */
import type { DeviceProfile, Topology } from '@int/network';

type Fields = Record<string, string>;

/** Fields of a set of values at most. */
const MOST_FIELDS = 1000;
const MOST_BYTES = 1 << 17;

/** Sets of values with their names: `switches`, and what does not fit into `switches:2` and so on. */
function setsOf(name: string, fields: readonly (readonly [string, string])[]): [name: string, fields: Fields][] {
  const sets: Fields[] = [];
  let bytes = Number.POSITIVE_INFINITY;
  let count = 0;
  for (const [field, value] of fields) {
    const more = field.length + Buffer.byteLength(value) + 6;
    if (count === MOST_FIELDS || bytes + more > MOST_BYTES) {
      sets.push({});
      bytes = 0;
      count = 0;
    }
    sets.at(-1)![field] = value;
    bytes += more;
    count++;
  }
  return sets.map((set, index) => [index === 0 ? name : `${name}:${index + 1}`, set]);
}

/**
 * `units`: of each metric as JSON, as the first line of the command's JSON has them; `switches`: names by id; `ports`: names by
 * switch and port, as `3/1`. Values stay as the switches reported them.
 */
export function networkValues(device: DeviceProfile | undefined, names: Topology | undefined): [string, Fields][] {
  const units = Object.entries(device?.units() ?? {}).filter(([, unit]) => unit !== null && !isEmpty(unit));
  const switches = [...(names?.switches.values() ?? [])];
  return [
    ...setsOf(
      'units',
      units.map(([metric, unit]) => [metric, JSON.stringify(unit)] as const),
    ),
    ...setsOf(
      'switches',
      switches.flatMap(({ id, name }) => (name === null ? [] : [[String(id), name] as const])),
    ),
    ...setsOf(
      'ports',
      switches.flatMap(({ id, ports }) =>
        [...ports.keys()].flatMap((port) => {
          const name = names!.portName(id, port);
          return name === null ? [] : [[`${id}/${port}`, name] as const];
        }),
      ),
    ),
  ];
}

const isEmpty = (unit: unknown): boolean => Array.isArray(unit) && unit.length === 0;
