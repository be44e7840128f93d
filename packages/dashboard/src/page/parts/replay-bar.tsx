import { clockText, leftOutText } from '../format/text.js';
import { useAnswer } from '../state/answers.js';
import { client } from '../state/connection.js';
import { useKeys } from '../state/keyboard.js';
import { go } from '../state/location.js';

const SPEEDS = [0, 0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 100] as const;
const REFRESH_MS = 1000;

/** The replay that all views show: where it is, how fast it runs, and the way back to the network. */
export function ReplayBar({ id }: { readonly id: string }) {
  const { data, error } = useAnswer(`replay ${id}`, (signal) => client.replays({ signal }), REFRESH_MS);
  const shown = data?.replays.find((each) => each.id === id);
  const setSpeed = (speed: number): void => void client.setReplaySpeed(id, speed).catch(() => {});
  const leave = (): void => {
    void client.endReplay(id).catch(() => {});
    go({ replay: null, at: null });
  };
  const step = (by: 1 | -1): void => {
    const index = SPEEDS.findIndex((each) => each >= (shown?.speed ?? 1));
    setSpeed(SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, index + by))]!);
  };
  useKeys([
    { key: '>', text: 'replay faster', run: () => step(1) },
    { key: '<', text: 'replay slower', run: () => step(-1) },
    { key: 'b', text: 'from the replay back to the network', run: leave },
  ]);
  const isGone = data !== null && shown === undefined;
  return (
    <fieldset class="row replay" aria-label="Replay">
      <span class="tag warn">replay{shown?.capture === undefined ? '' : ` of ${shown.capture}`}</span>
      {shown !== undefined && (
        <>
          <span class="mono" title={`from ${clockText(shown.from)} to ${clockText(shown.to)}`}>
            {shown.isOver ? 'ended' : clockText(shown.at ?? shown.from, 0)}
          </span>
          <select
            aria-label="Speed of the replay"
            value={String(shown.speed)}
            disabled={shown.isOver}
            onChange={(event) => setSpeed(Number(event.currentTarget.value))}
          >
            {[...new Set([...SPEEDS, shown.speed])]
              .sort((a, b) => a - b)
              .map((each) => (
                <option key={each} value={String(each)}>
                  {each === 0 ? 'stopped' : `${each}×`}
                </option>
              ))}
          </select>
          {shown.leftOut !== undefined && <span class="dim">{leftOutText(shown)}</span>}
          {shown.failure !== undefined && <span class="warn">{shown.failure}</span>}
        </>
      )}
      {isGone && <span class="warn">it has ended</span>}
      {error !== null && <span class="warn">{error}</span>}
      <button type="button" onClick={leave}>
        Back to the network
      </button>
    </fieldset>
  );
}
