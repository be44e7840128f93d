/** What the controller does, in this order. */
export const PHASES = [
  'warm',
  'quiet',
  'insert',
  'modify',
  'read',
  'atomic',
  'rollback',
  'verify',
  'reconcile',
  'delete',
] as const;
export type PhaseName = (typeof PHASES)[number];

/** From the benchmark to its controller: prepare a phase, run it, end. */
export type Command = PhaseName | 'go' | 'end';

/** From the controller. */
export type Told =
  | { readonly kind: 'connected' | 'ready' }
  | { readonly kind: 'done'; readonly seconds: number; readonly cpuSeconds: number; readonly count: number };
