/** A field of the form of a rule. */
export interface RuleField {
  /** Below the rule, as in YAML. */
  readonly path: readonly string[];
  readonly label: string;
  readonly hint: string;
  /** Words to choose from; others may be written, too. */
  readonly words?: 'metrics' | 'switches' | 'groups';
  /** The only values there are. */
  readonly choices?: readonly string[];
}

const field = (path: string, label: string, hint: string, extra: Partial<RuleField> = {}): RuleField => ({
  path: path.split('.'),
  label,
  hint,
  ...extra,
});

export const COMMON_FIELDS: readonly RuleField[] = [
  field('name', 'name', 'deep-queue'),
  field('priority', 'priority', 'the highest that matches decides'),
];

export const MATCH_FIELDS: readonly RuleField[] = [
  field('match.protocol', 'protocol', 'tcp, udp, a number'),
  field('match.source', 'source', '10.0.0.0/8'),
  field('match.sourcePort', 'source port', '1024-65535'),
  field('match.destination', 'destination', '10.1.2.3'),
  field('match.destinationPort', 'destination port', '80-443'),
  field('match.switch', 'switch', 'leaf-1 (version 2)', { words: 'switches' }),
  field('match.group', 'group of hosts', 'of the topology (version 2)', { words: 'groups' }),
];

const metric = { words: 'metrics' } as const;
const measured = (kind: string): RuleField[] => [
  field(`detect.${kind}.metric`, 'metric', 'hopLatency', metric),
  field(`detect.${kind}.threshold`, 'threshold', '10us, 64KiB, 80%, or device units'),
];
const scoped = (kind: string): RuleField[] => [
  ...measured(kind),
  field(`detect.${kind}.scope`, 'scope', 'hop', { choices: ['', 'hop', 'endToEnd'] }),
];

/** The fields of each detector. */
export const DETECTOR_FIELDS: Readonly<Record<string, readonly RuleField[]>> = {
  threshold: scoped('threshold'),
  change: scoped('change'),
  perHop: measured('perHop'),
  perFlow: measured('perFlow'),
  movingAverage: [...measured('movingAverage'), field('detect.movingAverage.weight', 'weight', '0 to 15')],
  complex: [field('detect.complex', 'expression', 'sum(hopLatency) > 100us and max(queueOccupancy) >= 64KiB')],
  pathChange: [],
  noop: [],
  baseline: [
    field('detect.baseline.metric', 'metric', 'hopLatency', metric),
    field('detect.baseline.above', 'above', '2x the usual'),
    field('detect.baseline.below', 'below', '0.5x'),
    field('detect.baseline.key', 'per', 'switch', { choices: ['', 'switch', 'queue', 'link', 'flow', 'path'] }),
    field('detect.baseline.learn', 'learn', '10min'),
  ],
  rate: [
    field('detect.rate.above', 'above', '1000 a second'),
    field('detect.rate.of', 'of', 'reports', { choices: ['', 'reports', 'events', 'drops'] }),
    field('detect.rate.key', 'per', 'switch', { choices: ['', 'all', 'switch', 'queue', 'link', 'flow', 'path'] }),
  ],
  absent: [
    field('detect.absent.for', 'silent for', '5s'),
    field('detect.absent.key', 'per', 'switch', { choices: ['', 'switch', 'flow'] }),
  ],
  burst: [
    field('detect.burst.metric', 'metric', 'queueOccupancy', metric),
    field('detect.burst.above', 'above', '64KiB'),
    field('detect.burst.within', 'within', '1ms'),
    field('detect.burst.key', 'per', 'queue', { choices: ['', 'switch', 'queue', 'link'] }),
  ],
};

/** What a detector needs so that it can be read: written when somebody chooses it. */
export const DETECTOR_STARTS: Readonly<Record<string, unknown>> = {
  threshold: { metric: 'queueOccupancy', threshold: 1000 },
  change: { metric: 'hopLatency', threshold: 1000 },
  perHop: { metric: 'hopLatency', threshold: 1000 },
  perFlow: { metric: 'hopLatency', threshold: 1000 },
  movingAverage: { metric: 'hopLatency', threshold: 1000, weight: 3 },
  complex: 'max(hopLatency) > 1000',
  pathChange: {},
  noop: {},
  baseline: { metric: 'hopLatency', above: '2x' },
  rate: { above: 1000 },
  absent: { for: '5s' },
  burst: { metric: 'queueOccupancy', above: 1000, within: '1ms' },
};

export const EVENT_FIELDS: readonly RuleField[] = [
  field('severity', 'severity', 'warning', { choices: ['', 'info', 'warning', 'critical'] }),
  field('for', 'for', '1s (version 2)'),
  field('every', 'every', '10s (version 2)'),
];
