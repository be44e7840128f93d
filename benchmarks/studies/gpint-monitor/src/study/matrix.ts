/** What is measured: every combination of method, load, size, loss and recovery that a figure shows. */

export type MethodId = 'gpint-2' | 'gpint-3' | 'gpint-5' | 'gpint-3-ft' | 'euler' | 'snmp' | 'paths-25' | 'paths-30';

/** How probes are planned and how patiently they are recovered. */
export interface Method {
  readonly label: string;
  readonly planner: 'gpint' | 'euler' | 'per-node';
  /** Number of paths for a number of switches; not asked of the planners that have no choice. */
  readonly paths: (switches: number) => number;
  /** Feedback timeout, nanoseconds. */
  readonly feedbackTimeoutNs: number;
  /** Sends after which a switch that shows no progress is given up. */
  readonly attempts: number;
}

const MILLISECOND = 1_000_000;
/** Reliable GPINT, section IV-C. */
const PATIENT = { feedbackTimeoutNs: 1500 * MILLISECOND, attempts: 10 } as const;
/** Reliable GPINT, section V-B3: fine-tuned. */
const EAGER = { feedbackTimeoutNs: 400 * MILLISECOND, attempts: 2 } as const;

/** floor(tenths * switches / 10), at least 1 (section V-B). */
const share =
  (tenths: number) =>
  (switches: number): number =>
    Math.max(1, Math.floor((tenths * switches) / 10));

export const METHODS: Readonly<Record<MethodId, Method>> = {
  'gpint-2': { label: 'GPINT-2', planner: 'gpint', paths: share(2), ...PATIENT },
  'gpint-3': { label: 'GPINT-3', planner: 'gpint', paths: share(3), ...PATIENT },
  'gpint-5': { label: 'GPINT-5', planner: 'gpint', paths: share(5), ...PATIENT },
  'gpint-3-ft': { label: 'GPINT-3-FT', planner: 'gpint', paths: share(3), ...EAGER },
  euler: { label: 'Euler', planner: 'euler', paths: share(0), ...PATIENT },
  snmp: { label: 'SNMP-like', planner: 'per-node', paths: share(10), ...PATIENT },
  'paths-25': { label: '25 paths', planner: 'gpint', paths: () => 25, ...PATIENT },
  'paths-30': { label: '30 paths', planner: 'gpint', paths: () => 30, ...PATIENT },
};

/** One combination. */
export interface Cell {
  readonly method: MethodId;
  /** Background packets a second, all hosts together. */
  readonly load: number;
  readonly switches: number;
  /** Probability that a link between switches loses a packet, each way. */
  readonly loss: number;
  /** Whether links lose feedback as they lose the rest. */
  readonly losesFeedback: boolean;
  readonly recover: boolean;
}

export const LOW_LOAD = 10_000;
export const HIGH_LOAD = 14_000;

/** What a study covers. */
export interface Extent {
  readonly sizes: readonly number[];
  /** Sizes with degraded links. */
  readonly degradedSizes: readonly number[];
  readonly losses: readonly number[];
  readonly repetitions: number;
  /** Collection rounds of a repetition. */
  readonly rounds: number;
}

/** Section V-A, and 60 and 100 switches where links lose packets. */
export const FULL: Extent = {
  sizes: [20, 40, 60, 80, 100],
  degradedSizes: [20, 60, 100],
  losses: [0.05, 0.1, 0.15, 0.2],
  repetitions: 20,
  rounds: 10,
};

export const SHORT: Extent = { sizes: [20, 40], degradedSizes: [40], losses: [0.05, 0.2], repetitions: 2, rounds: 2 };

/** The figures, as the options name them. `probes` is the number of probes that a session of 25 or 30 paths takes. */
export const FIGURES = ['fig8', 'fig9', 'fig10', 'fig11', 'fig12', 'fig13', 'fig14', 'fig15', 'probes'] as const;

export type FigureName = (typeof FIGURES)[number];

/** A name for a combination, the same for equal ones. */
export function keyOf({ method, load, switches, loss, losesFeedback, recover }: Cell): string {
  const kind = recover ? (losesFeedback ? 'on' : 'on, feedback safe') : 'off';
  return `${method} ${load} pps ${switches} switches loss ${loss} recovery ${kind}`;
}

const PLAIN: readonly MethodId[] = ['gpint-2', 'gpint-3', 'gpint-5', 'euler', 'snmp'];
const PARTITIONED: readonly MethodId[] = ['gpint-2', 'gpint-3', 'gpint-5', 'snmp'];
const DEGRADED_RECOVERED: readonly MethodId[] = ['gpint-3', 'gpint-3-ft', 'snmp'];
/** Switches of the networks whose probes are counted. */
export const PROBES_SWITCHES = 100;

function cross(
  methods: readonly MethodId[],
  load: number,
  sizes: readonly number[],
  losses: readonly number[],
  recover: boolean,
): Cell[] {
  return sizes.flatMap((switches) =>
    losses.flatMap((loss) =>
      methods.map((method): Cell => ({ method, load, switches, loss, losesFeedback: true, recover })),
    ),
  );
}

/** What each figure shows. */
export function cellsOf(figure: FigureName, extent: Extent): Cell[] {
  const { sizes, degradedSizes, losses } = extent;
  const off = (load: number): Cell[] => cross(PLAIN, load, sizes, [0], false);
  const low = cross(PLAIN, LOW_LOAD, sizes, [0], true);
  const high = cross([...PLAIN, 'gpint-3-ft'], HIGH_LOAD, sizes, [0], true);
  switch (figure) {
    case 'fig8':
      return [...off(LOW_LOAD), ...off(HIGH_LOAD), ...low, ...high];
    case 'fig9':
      return [...off(LOW_LOAD), ...off(HIGH_LOAD)];
    case 'fig10':
      return off(LOW_LOAD);
    case 'fig11':
      return off(HIGH_LOAD);
    case 'fig12':
      return cross(PARTITIONED, HIGH_LOAD, degradedSizes, losses, false);
    case 'fig13':
      return low;
    case 'fig14':
      return high;
    case 'fig15':
      return cross(DEGRADED_RECOVERED, HIGH_LOAD, degradedSizes, losses, true);
    case 'probes':
      return [true, false].flatMap((losesFeedback) =>
        cross(['paths-25', 'paths-30'], 0, [PROBES_SWITCHES], [0.05, 0.2], true).map((cell) => ({
          ...cell,
          losesFeedback,
        })),
      );
  }
}

/** Every combination that the figures need, each one once. */
export function cellsFor(figures: readonly FigureName[], extent: Extent): Cell[] {
  const cells = new Map<string, Cell>();
  for (const figure of figures) for (const cell of cellsOf(figure, extent)) cells.set(keyOf(cell), cell);
  return [...cells.values()];
}
