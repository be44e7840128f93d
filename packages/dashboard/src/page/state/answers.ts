import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from './connection.js';

/** What was asked, as far as it is there. While it is asked again, the last answer stays. */
export interface Answered<T> {
  readonly data: T | null;
  readonly error: string | null;
  readonly isLoading: boolean;
}

/**
 * Asks the server, again whenever `key` changes, and then every `everyMs`.
 * @param ask `null`: nothing to ask
 */
export function useAnswer<T>(
  key: string,
  ask: ((signal: AbortSignal) => Promise<T>) | null,
  everyMs: number | null = null,
): Answered<T> {
  const [answered, setAnswered] = useState<Answered<T>>({ data: null, error: null, isLoading: ask !== null });
  const latest = useRef(ask);
  latest.current = ask;
  const isAsking = ask !== null;
  useEffect(() => {
    if (!isAsking) return;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const once = async (): Promise<void> => {
      try {
        const data = await latest.current?.(controller.signal);
        if (!controller.signal.aborted && data !== undefined) setAnswered({ data, error: null, isLoading: false });
      } catch (error) {
        if (controller.signal.aborted) return;
        setAnswered((before) => ({ ...before, error: messageOf(error), isLoading: false }));
      }
      if (everyMs !== null && !controller.signal.aborted) timer = setTimeout(once, everyMs);
    };
    setAnswered((before) => ({ ...before, isLoading: true }));
    void once();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [key, isAsking, everyMs]);
  return answered;
}
