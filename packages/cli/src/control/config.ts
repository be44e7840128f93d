/** Types of a valid control.yaml; they match schema/control.schema.json. */
import type { Autonomy, DetectIntent, Intent, Rehearsing, WatchField } from '@int/control';
import type { DeviceSpec } from '@int/network';
import type { DashboardConfig, SourceConfig, TlsConfig } from '../config/config.js';
import type { Quantity } from '../config/quantities.js';

type ByKind<T> = Readonly<Partial<Record<'watch' | 'block' | 'limit' | 'avoid' | 'path', T>>>;

export interface SwitchConfig {
  readonly target: string;
  readonly deviceId?: number;
  readonly program?: string;
  readonly tls?: TlsConfig;
}

export interface MatchConfig {
  readonly source?: string;
  readonly destination?: string;
  readonly protocol?: number | string;
  readonly sourcePort?: number | string;
  readonly destinationPort?: number | string;
}

export interface IntentConfig {
  readonly id: string;
  readonly kind: Intent['kind'];
  readonly owner?: string;
  readonly reason?: string;
  readonly priority?: number;
  readonly ttl?: Quantity;
  readonly match?: MatchConfig;
  readonly instructions?: number | string;
  readonly fields?: readonly WatchField[];
  readonly oneIn?: number;
  readonly reportOneIn?: number;
  readonly rate?: number | string;
  readonly link?: string;
  readonly via?: readonly (string | number)[];
  readonly destination?: string;
  readonly level?: number;
  readonly below?: number;
  readonly switches?: readonly (string | number)[];
  readonly metric?: DetectIntent['metric'];
  readonly algorithm?: DetectIntent['algorithm'];
  readonly scope?: DetectIntent['scope'];
  readonly target?: number;
  readonly band?: readonly [minimum: number, maximum: number];
}

export interface ControlConfig {
  readonly version: 1;
  readonly sources: readonly SourceConfig[];
  readonly device?: DeviceSpec;
  readonly topology: string;
  readonly program: string;
  readonly electionId?: number;
  readonly switches: Readonly<Record<string, SwitchConfig>>;
  readonly collector?: { readonly address: string; readonly port?: number };
  readonly routes?: 'managed' | 'external';
  readonly inside?: readonly string[];
  readonly learn?: Quantity;
  readonly sampling?: number;
  readonly autonomy?: ByKind<Autonomy> & { readonly detect?: 'observe' | 'act' };
  readonly limits?: ByKind<number> & { readonly detect?: number } & {
    readonly within?: Quantity;
    readonly all?: number;
  };
  readonly rehearse?: Rehearsing;
  readonly linkLoad?: number;
  readonly stale?: Quantity;
  readonly loss?: number;
  readonly settle?: Quantity;
  readonly approval?: Quantity;
  readonly ttl?: ByKind<Quantity>;
  readonly backOff?: { readonly first?: Quantity; readonly longest?: Quantity };
  readonly reportOneIn?: number;
  readonly journal?: string;
  readonly dashboard?: DashboardConfig;
  readonly intents?: readonly IntentConfig[];
}
