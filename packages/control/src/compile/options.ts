/** How intents become tables. */
export interface CompileOptions {
  /** `managed`: routes to all hosts are the controller's. `external`: somebody else has them. Default: `managed`. */
  readonly routes?: 'managed' | 'external';
  /** Ids of clone sessions, members and groups that are the controller's: at least 600. Default: 2000 to 2999. */
  readonly ids?: { readonly first: number; readonly last: number };
  /** Whether flows are spread over equal paths, or all take the one with the smallest port. Default: true. */
  readonly spread?: boolean;
  /**
   * The seed of the choice among equal paths: of each switch its own, or one number for all, with which flows that meet
   * behind one choice stay together at the next. Default: `switch`.
   */
  readonly hashSeed?: 'switch' | number;
  /** Largest IP packet that leaves a switch, bytes; telemetry that has no room is left out. 0: any. Default: 0. */
  readonly mtuBytes?: number;
  /** Bytes of a packet that a report carries, at most 968. Default: 256. */
  readonly reportBytes?: number;
  /**
   * INT sinks report one packet of so many of each flow that a `detect` intent matches, besides its events; 0: events alone.
   * Default: 1.
   */
  readonly regularOneIn?: number;
}

export type Settings = Required<CompileOptions>;

/** @throws RangeError for what no switch can have */
export function settingsOf(options: CompileOptions): Settings {
  const settings: Settings = {
    routes: 'managed',
    ids: { first: 2000, last: 2999 },
    spread: true,
    hashSeed: 'switch',
    mtuBytes: 0,
    reportBytes: 256,
    regularOneIn: 1,
    ...options,
  };
  const whole = (name: string, value: number, least: number, most: number): void => {
    if (!Number.isInteger(value) || value < least || value > most) {
      throw new RangeError(`${name}: ${value} is no whole number from ${least} to ${most}`);
    }
  };
  const { ids, mtuBytes, reportBytes, regularOneIn, hashSeed } = settings;
  whole('ids.first', ids.first, 1, 0xffff - 600);
  whole('ids.last', ids.last, ids.first + 599, 0xffff);
  whole('mtuBytes', mtuBytes, 0, 0xffff);
  whole('reportBytes', reportBytes, 64, 968);
  whole('regularOneIn', regularOneIn, 0, 0xffff_ffff);
  if (hashSeed !== 'switch') whole('hashSeed', hashSeed, 0, 0xffff_ffff);
  return settings;
}
