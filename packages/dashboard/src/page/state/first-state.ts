import { FIRST_STATE_ID, type FirstState } from '../../protocol/first-state.js';
import { replay } from './location.js';

/** What the document holds of the network as it was when the page was loaded; `null`: nothing, or a replay is shown. */
export const firstState: FirstState | null = replay.peek() === null ? read() : null;

function read(): FirstState | null {
  const text = document.getElementById(FIRST_STATE_ID)?.textContent ?? '';
  return text === '' ? null : (JSON.parse(text) as FirstState);
}
