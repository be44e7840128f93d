import type { ComponentChildren } from 'preact';

interface PanelProps {
  readonly title: string;
  /** Behind the title, in small letters. */
  readonly note?: ComponentChildren;
  /** At the right end of the title. */
  readonly tools?: ComponentChildren;
  readonly isFlush?: boolean;
  readonly error?: string | null;
  readonly children: ComponentChildren;
}

export function Panel({ title, note, tools, isFlush = false, error = null, children }: PanelProps) {
  return (
    <section class="panel" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {note !== undefined && <span class="dim cut">{note}</span>}
        <span class="grow" />
        {tools}
      </header>
      {error !== null && (
        <p class="failure" role="alert">
          {error}
        </p>
      )}
      <div class={isFlush ? 'flush' : 'body'}>{children}</div>
    </section>
  );
}

/** Says why there is nothing to see. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return (
    <div class="empty">
      <p>{children}</p>
    </div>
  );
}
