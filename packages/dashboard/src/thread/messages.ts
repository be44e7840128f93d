/** The messages between the dashboard's thread and the pipeline's. */
import type { CollectorTotals, DegradedPart } from '@int/collector';
import type { NetworkData } from '../network/network-view.js';
import type { ControlAnswer, JournalRow } from '../protocol/control.js';
import type { SharedRetention } from '../retention/geometry.js';
import type { SlabMemory, SlabNote } from '../retention/slabs.js';
import type { WebServerOptions } from '../server/web-server.js';

/** Given to the thread when it starts. */
export interface ThreadSetup {
  readonly web: WebServerOptions;
  /** Path or address of the code of the thread. */
  readonly file: string;
  readonly isReadOnly: boolean;
  readonly version: string;
  readonly shared: SharedRetention;
  readonly slabs: readonly SlabMemory[];
  readonly network: NetworkData;
  readonly facts: Readonly<Record<string, unknown>>;
  /** The state of the controller; `null`: there is none. */
  readonly control: ControlAnswer | null;
  /** Folder of the page's files; `null`: that of this package. */
  readonly page: string | null;
}

/** What the collector says of itself. */
export interface PipelineState {
  readonly totals: CollectorTotals;
  readonly degraded: readonly DegradedPart[];
}

/** To the thread. */
export type ToThread =
  | { readonly name: 'slab'; readonly note: SlabNote }
  | { readonly name: 'state'; readonly state: PipelineState }
  | { readonly name: 'network'; readonly network: NetworkData }
  | { readonly name: 'facts'; readonly facts: Readonly<Record<string, unknown>> }
  /** `rows`: what the journal has besides since the last message; `missed`: so many more are not told. */
  | {
      readonly name: 'control';
      readonly control: ControlAnswer;
      readonly rows: readonly JournalRow[];
      readonly missed: number;
    }
  | { readonly name: 'answer'; readonly id: number; readonly value: unknown }
  | {
      readonly name: 'failed';
      readonly id: number;
      readonly status: number;
      readonly code: string;
      readonly message: string;
      readonly at?: { readonly line: number; readonly column: number };
    }
  | { readonly name: 'close' };

/** What is refused, by code, and how many look. */
export interface ThreadTotals {
  readonly viewers: number;
  readonly framesSent: number;
  readonly framesSkipped: number;
  readonly refused: Readonly<Record<string, number>>;
}

/** From the thread. */
export type FromThread =
  | { readonly name: 'listening'; readonly host: string; readonly port: number }
  | { readonly name: 'refused'; readonly code: string; readonly message: string }
  | { readonly name: 'ask'; readonly id: number; readonly what: string; readonly data: unknown }
  /** Sent once a second if something has changed. */
  | { readonly name: 'totals'; readonly totals: ThreadTotals };
