import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface AskOnceProps {
  readonly title: string;
  readonly action: string;
  readonly children: ComponentChildren;
  readonly onYes: () => void;
  readonly onClose: () => void;
}

/** Asks once before something that touches all. Enter does it, Escape does not. */
export function AskOnce({ title, action, children, onYes, onClose }: AskOnceProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const yes = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    yes.current?.focus();
  }, []);
  return (
    <dialog ref={dialog} class="ask" aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      <p>{children}</p>
      <div class="row">
        <button
          ref={yes}
          type="button"
          class="danger"
          onClick={() => {
            onYes();
            dialog.current?.close();
          }}
        >
          {action}
        </button>
        <button type="button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
      </div>
    </dialog>
  );
}
