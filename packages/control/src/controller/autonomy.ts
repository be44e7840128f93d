import type { Intent } from '../intents/intent.js';
import { flowTest } from './flow-test.js';
import type { Draft } from './live-proposal.js';
import type { Autonomy } from './policy.js';

/** What may be done by itself. What a `protect` intent covers is answered at once, if it may be answered at all. */
export function autonomyOf({ kind, autonomy, make }: Draft, own: readonly Intent[]): Autonomy {
  if (autonomy !== 'propose' || (kind !== 'block' && kind !== 'limit')) return autonomy;
  const destinations = make('', 0).flatMap((intent) =>
    'match' in intent && intent.match.destination !== undefined ? [intent.match.destination] : [],
  );
  const isProtected = destinations.some((destination) =>
    own.some((intent) => {
      if (intent.kind !== 'protect') return false;
      const flow = { source: '0.0.0.0', destination, protocol: 0, sourcePort: 0, destinationPort: 0 };
      return flowTest({ destination: intent.destination })(flow);
    }),
  );
  return isProtected ? 'act' : autonomy;
}
