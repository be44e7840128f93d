/** What people and programs note is there for all who look. */
import type { Annotation, AnnotationsAnswer, ErrorAnswer, Status } from '@int/dashboard';
import { expect, it } from 'vitest';
import { openDashboard } from './pages.js';

it('keeps what is noted, newest first, and refuses what is no note', async () => {
  const dashboard = await openDashboard();
  const ask = async <T>(path: string, body?: unknown): Promise<T> => {
    const answer = await fetch(new URL(`api/v1/${path}`, dashboard.url), {
      ...(body !== undefined && {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    });
    return (await answer.json()) as T;
  };
  try {
    const first = { text: 'a new spine', timeMs: 1000, durationMs: 500, entity: 'switch:101' };
    expect(await ask<Annotation>('annotations', first)).toEqual({ id: '1', ...first });
    await ask<Annotation>('annotations', { text: '<b>later</b>', timeMs: 9000 });
    const { annotations } = await ask<AnnotationsAnswer>('annotations?from=1200&to=5000');
    expect(annotations.map(({ text }) => text)).toEqual(['a new spine']);
    const status = await ask<Status>('status');
    expect(status.annotations!.map(({ text }) => text)).toEqual(['<b>later</b>', 'a new spine']);
    for (const bad of [
      {},
      { text: '' },
      { text: 'x', entity: 'leaf' },
      { text: 'x', durationMs: -1 },
      { text: 'x'.repeat(301) },
    ]) {
      expect(await ask<ErrorAnswer>('annotations', bad)).toMatchObject({ error: { code: 'ERR_BODY' } });
    }
  } finally {
    await dashboard.close();
  }
});
