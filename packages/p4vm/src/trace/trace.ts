import type { RuntimeValue } from '../machine/runtime.js';

/** One step of a packet through the program. */
export type TraceEvent =
  | { readonly kind: 'stage'; readonly name: 'parser' | 'verify' | 'ingress' | 'egress' | 'compute' | 'deparser' }
  | { readonly kind: 'state'; readonly parser: string; readonly state: string }
  | { readonly kind: 'extract'; readonly header: string; readonly bits: number }
  | { readonly kind: 'parser-error'; readonly error: string }
  | {
      readonly kind: 'table';
      readonly table: string;
      readonly keys: readonly { readonly name: string; readonly value: RuntimeValue }[];
      readonly hit: boolean;
      readonly handle: number;
      readonly action: string | undefined;
      readonly data: readonly RuntimeValue[];
    }
  | { readonly kind: 'action'; readonly action: string }
  | { readonly kind: 'assign'; readonly target: string; readonly value: RuntimeValue | string }
  | { readonly kind: 'extern'; readonly call: string }
  | { readonly kind: 'emit'; readonly header: string; readonly bits: number }
  /** A decision of the switch about the packet, such as `to port 3`, `dropped`, `cloned to session 5`. */
  | { readonly kind: 'packet'; readonly what: string };

/** Receives the events of code compiled for tracing. */
export interface TraceConsumer {
  event(event: TraceEvent): void;
}
