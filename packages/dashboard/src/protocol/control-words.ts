/** Words of requests to a controller and of its answers. */

export const INTENT_KINDS = ['watch', 'block', 'limit', 'avoid', 'path', 'protect', 'keep', 'detect'] as const;

export const PROPOSAL_STATES = [
  'proposed',
  'approved',
  'installed',
  'verified',
  'rolled-back',
  'withdrawn',
  'expired',
  'refused',
] as const;

/** States that end a proposal. */
export const ENDED_STATES: readonly (typeof PROPOSAL_STATES)[number][] = [
  'refused',
  'rolled-back',
  'withdrawn',
  'expired',
];

export const ORDERS = ['approve', 'reject', 'undo', 'redo', 'stop', 'withdraw', 'resume'] as const;
