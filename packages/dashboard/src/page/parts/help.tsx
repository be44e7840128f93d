import { useEffect, useRef } from 'preact/hooks';
import { activeKeys } from '../state/keyboard.js';

const NAMES: Readonly<Record<string, string>> = {
  ' ': 'space',
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
  Escape: 'Esc',
};

/** All keys that work where one is. */
export function Help({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const keys = [...new Map(activeKeys().map((each) => [each.key, each])).values()].filter(({ text }) => text !== '');
  return (
    <dialog ref={dialog} aria-label="Keys" onClose={onClose}>
      <div class="row">
        <h2 class="grow">Keys that work here</h2>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      <dl class="keys">
        {keys.flatMap(({ key, text }) => [
          <dt key={`${key} key`}>
            <kbd>{NAMES[key] ?? key}</kbd>
          </dt>,
          <dd key={`${key} text`}>{text}</dd>,
        ])}
      </dl>
      <p class="dim">
        <br />
        Drag over a chart to zoom. The address holds all that one sees: it can be sent to others.
      </p>
    </dialog>
  );
}
