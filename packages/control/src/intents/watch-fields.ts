/** The eight fields that a watch may name: those of IntMon, and of the paper's watch rules. */

/**
 * By name: the bit of IntMon's instruction bitmap, and the instruction of INT 2.1 that asks for the same. INT 2.1 has no congestion
 * status: the occupancy of the queue tells it.
 */
export const WATCH_FIELDS = {
  switchId: { intmon: 0x80, instruction: 0x8000 },
  ingressPort: { intmon: 0x40, instruction: 0x4000 },
  hopLatency: { intmon: 0x20, instruction: 0x2000 },
  queueOccupancy: { intmon: 0x10, instruction: 0x1000 },
  ingressTimestamp: { intmon: 0x08, instruction: 0x0800 },
  egressPort: { intmon: 0x04, instruction: 0x4000 },
  congestionStatus: { intmon: 0x02, instruction: 0x1000 },
  egressUtilization: { intmon: 0x01, instruction: 0x0100 },
} as const;

export type WatchField = keyof typeof WATCH_FIELDS;

export const isWatchField = (name: unknown): name is WatchField =>
  typeof name === 'string' && Object.hasOwn(WATCH_FIELDS, name);

/** Instructions of INT 2.1 that ask for fields. */
export const instructionsOf = (fields: readonly WatchField[]): number =>
  fields.reduce((bits, name) => bits | WATCH_FIELDS[name].instruction, 0);

/** IntMon's bitmap of fields, 8 bits. */
export const intmonFieldsOf = (fields: readonly WatchField[]): number =>
  fields.reduce((bits, name) => bits | WATCH_FIELDS[name].intmon, 0);

/** Fields, each once, in the order of their bits. */
export const inOrder = (fields: Iterable<WatchField>): readonly WatchField[] => {
  const wanted = new Set(fields);
  return (Object.keys(WATCH_FIELDS) as WatchField[]).filter((name) => wanted.has(name));
};
