/**
 * The layout that `xdp/prefilter_maps.h` fixes, as numbers: values of the kernel's maps and the verdict in front of a
 * frame. Everything is in the host's byte order but what is marked "as on the wire" there.
 */
import { endianness } from 'node:os';

/** The `littleEndian` argument for DataView. */
export const LITTLE: boolean = /* @__PURE__ */ endianness() === 'LE';

/** Rules of a rule set at most. */
export const MAX_RULES = 16;
/** `rule` of a verdict that no rule gave. */
export const NO_KERNEL_RULE = 255;
/** A value that no port equals. */
export const NO_PORT = 0x10000;

/** What decides a report: the first five are numbers of detectors. */
export const KERNEL_KIND = {
  NOOP: 0,
  PER_HOP: 1,
  PER_FLOW: 2,
  MOVING_AVERAGE: 3,
  THRESHOLD: 4,
  PASS: 64,
  DROP: 65,
  UNDECIDED: 66,
} as const;

export const KERNEL_SCOPE = { HOP: 0, END_TO_END: 1 } as const;

/** Bits of a rule's `match`. */
export const MATCH = {
  PROTOCOL: 1,
  FAMILY: 2,
  SOURCE: 4,
  DESTINATION: 8,
  SOURCE_PORT: 16,
  DESTINATION_PORT: 32,
} as const;

/** struct prefilter_config */
export const CONFIG = {
  ACTIVE: 0,
  FLAGS: 4,
  INT_PORT: 8,
  TOS_MASK: 16,
  TOS_VALUE: 20,
  SWITCH_CELLS: 24,
  SWITCH_MASK: 28,
  FLOW_CELLS: 32,
  FLOW_MASK: 36,
  BYTES: 40,
} as const;

/** CONFIG.FLAGS: count the hops of filtered reports by switch; drop reports of senders, and with switches, that are not in a map. */
export const FLAGS = { COUNT_HOPS: 1, CHECK_SENDERS: 2, CHECK_SWITCHES: 4 } as const;

/** Most prefixes of senders, and most switches. */
export const MAX_SENDERS = 4096;
export const MAX_SWITCHES = 65_536;
/** struct prefilter_sender_key */
export const SENDER_KEY = { LENGTH: 0, ADDRESS: 4, BYTES: 20 } as const;

/** struct prefilter_ports */
export const PORTS_BYTES = 8192;

/** struct prefilter_rule */
export const RULE = {
  KIND: 0,
  SCOPE: 1,
  WEIGHT: 2,
  MATCH: 3,
  PROTOCOL: 4,
  FAMILY: 5,
  BIT: 6,
  WORD: 7,
  SHIFT: 8,
  MASK: 12,
  THRESHOLD: 16,
  SLOT: 20,
  SOURCE_PORT: 24,
  DESTINATION_PORT: 28,
  SOURCE: 32,
  SOURCE_MASK: 48,
  DESTINATION: 64,
  DESTINATION_MASK: 80,
  BYTES: 96,
} as const;

/** struct prefilter_rule_set */
export const RULE_SET = { GENERATION: 0, COUNT: 4, DEFAULT_KIND: 8, RULES: 16, BYTES: 1552 } as const;

/** struct prefilter_totals: index of each 64-bit counter. */
export const TOTALS = [
  'passed',
  'reports',
  'events',
  'handedOn',
  'filtered',
  'filteredHops',
  'undecided',
  'noSocket',
  'noVerdict',
  'stateFull',
  'unknownSource',
  'unknownSwitch',
] as const;

/** struct prefilter_verdict */
export const VERDICT = {
  MAGIC: 0,
  GENERATION: 4,
  RULE: 8,
  KIND: 9,
  HOP: 10,
  EVENTS: 11,
  NODE: 12,
  VALUE: 16,
  PREVIOUS: 20,
  THRESHOLD: 24,
  LENGTH: 28,
  BYTES: 32,
} as const;

/** VERDICT.MAGIC: "INV1" in memory on little-endian hosts. */
export const MAGIC = 0x31564e49;
