import { useLayoutEffect, useRef } from 'preact/hooks';

export interface Key {
  /** As `KeyboardEvent.key`. */
  readonly key: string;
  readonly text: string;
  readonly run: (event: KeyboardEvent) => void;
}

/** Those of the parts that are there; the last one that knows a key has it. */
const layers: Key[][] = [];

const isTyped = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));

/** Elements that do something of their own at Enter and at a space. */
const isPressed = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && ['BUTTON', 'A', 'SUMMARY'].includes(target.tagName);

addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (document.querySelector('dialog[open]') !== null && event.key !== '?') return;
  if (isTyped(event.target)) {
    if (event.key === 'Escape') (event.target as HTMLElement).blur();
    return;
  }
  if (isPressed(event.target) && (event.key === ' ' || event.key === 'Enter')) return;
  for (let layer = layers.length - 1; layer >= 0; layer--) {
    const found = layers[layer]!.find(({ key }) => key === event.key);
    if (found === undefined) continue;
    event.preventDefault();
    found.run(event);
    return;
  }
});

/** Keys that work while a part of the page is there. */
export function useKeys(keys: readonly Key[]): void {
  const latest = useRef<Key[]>([]);
  latest.current.splice(0, latest.current.length, ...keys);
  // With the picture, not some time after it: who sees a part can use its keys.
  useLayoutEffect(() => {
    const mine = latest.current;
    layers.push(mine);
    return () => {
      layers.splice(layers.indexOf(mine), 1);
    };
  }, []);
}

/** All keys that work now, for the help: those of the page first. */
export const activeKeys = (): readonly Key[] => layers.flat();
