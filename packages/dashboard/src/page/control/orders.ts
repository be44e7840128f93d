import { signal } from '@preact/signals';
import type { ControlOrder, OrderAnswer } from '../../client/index.js';
import { client, messageOf } from '../state/connection.js';

const NAME = 'int-dashboard-name';

/** Who one says one is, for the journal. It outlives the page. */
export const myName = signal(heldName());

function heldName(): string {
  try {
    return localStorage.getItem(NAME) ?? '';
  } catch {
    return '';
  }
}

export function setMyName(name: string): void {
  myName.value = name;
  try {
    localStorage.setItem(NAME, name);
  } catch {
    // The next page has to be told again.
  }
}

/** What has become of the last order. */
export interface Told {
  readonly text: string;
  readonly isBad: boolean;
}
export const told = signal<Told | null>(null);
/** The order that is under way. */
export const busy = signal<ControlOrder['order'] | null>(null);

type Ordered =
  | { readonly order: 'approve' | 'reject' | 'undo'; readonly proposal: string }
  | { readonly order: 'stop' | 'withdraw' | 'resume' };

/**
 * Gives an order, one at a time; a stop waits for nobody.
 * @param words what it did, for people
 */
export async function give(what: Ordered, reason: string, words: (answer: OrderAnswer) => string): Promise<void> {
  if (busy.value !== null && what.order !== 'stop') return;
  busy.value = what.order;
  told.value = null;
  const by = myName.value.trim();
  try {
    const answer = await client.order({
      ...what,
      ...(by !== '' && { by }),
      ...(reason.trim() !== '' && { reason: reason.trim() }),
    });
    told.value = { text: words(answer), isBad: false };
  } catch (error) {
    told.value = { text: `${what.order} was refused: ${messageOf(error)}`, isBad: true };
  }
  busy.value = null;
}
