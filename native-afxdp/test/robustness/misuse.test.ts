import { describe, expect, it } from 'vitest';
import { mostly, pairFor } from '../pair.js';
import type { Outcome } from '../robustness.program.js';
import { startAt } from './start.js';

/** The kind of each error: its class and code, or what came instead. */
function kinds(outcomes: Readonly<Record<string, Outcome>>): Record<string, string> {
  return Object.fromEntries(Object.entries(outcomes).map(([name, outcome]) => [name, kindOf(outcome)]));
}

function kindOf(outcome: Outcome): string {
  if ('returned' in outcome) return `returned ${outcome.returned}`;
  const { name, code } = outcome.failure;
  return name === 'XdpError' ? code! : name;
}

describe.each(mostly('sanitized'))('misuse of %s', (_name, build) => {
  // Hundreds of calls, under the sanitizers too.
  it('is an error of the caller, and the socket goes on', async () => {
    const pair = await pairFor({ together: true });
    const program = await startAt(pair, { build });
    const found = kinds(await program.call('misuse'));
    const expected = Object.fromEntries(Object.keys(found).map((name) => [name, 'RangeError']));
    for (const name of ['release no batch', 'receive into no batch', 'receive into columns that are gone']) {
      expected[name] = 'TypeError';
    }
    expect(found).toEqual(expected);
    expect(Object.keys(found).length).toBeGreaterThan(25);
    await program.stop();
  }, 180_000);

  it('in what is to be opened is an error that says what', async () => {
    const pair = await pairFor({ together: true });
    const program = await startAt(pair, { build });
    const outcomes = await program.call('badOpenings');
    const found = kinds(outcomes);
    const expected = Object.fromEntries(Object.keys(found).map((name) => [name, 'RangeError']));
    Object.assign(expected, {
      'an interface that does not exist': 'ERR_XDP_NO_DEVICE',
      'an interface without a name': 'ERR_XDP_NO_DEVICE',
      'an interface with a long name': 'ERR_XDP_NO_DEVICE',
      'an interface with a zero byte': 'ERR_XDP_NO_DEVICE',
      'an interface that is a number': 'TypeError',
      'a queue that does not exist': 'ERR_XDP_QUEUE',
      'ports that are a number': 'TypeError',
      'memory that is an array': 'TypeError',
      'a program that is no descriptor': 'ERR_XDP_SYSTEM',
      'a program that is another descriptor': 'ERR_XDP_SYSTEM',
      'zero copy where the driver cannot': 'ERR_XDP_NO_DRIVER_SUPPORT',
    });
    expect(found).toEqual(expected);
    for (const [name, outcome] of Object.entries(outcomes)) {
      expect([name, 'failure' in outcome ? outcome.failure.message.length > 20 : false]).toEqual([name, true]);
    }
    // Nothing is left of any of them.
    expect(pair.attached(pair.right)).toBe(null);
    expect(await program.call('open', {})).toBe('driver');
    await program.stop();
  });

  it('after close() is an error, and the memory can still be read and written', async () => {
    const pair = await pairFor({ together: true });
    const program = await startAt(pair, { build });
    const found = kinds(await program.call('afterClose'));
    expect(found).toEqual({
      'wait that was on': 'returned false',
      receive: 'ERR_XDP_CLOSED',
      release: 'ERR_XDP_CLOSED',
      acquire: 'ERR_XDP_CLOSED',
      transmit: 'ERR_XDP_CLOSED',
      wait: 'returned false',
      waitSync: 'returned false',
      flush: expect.stringMatching(/^(ERR_XDP_CLOSED|returned (true|false))$/) as string,
      checkInterface: 'ERR_XDP_CLOSED',
      pending: 'returned number',
      stats: 'returned true',
    });
    expect(await program.call('viewAlone')).toBe(7 * 4096);
    await program.stop();
  });

  it.each([
    ['with a program of its own', false],
    ['with the same program', true],
  ] as const)('a second socket on a queue, %s, is refused', async (_how, shares) => {
    const pair = await pairFor({ together: true });
    const program = await startAt(pair, { build });
    const failure = await program.call('secondSocket', shares);
    expect(failure).toMatchObject({ name: 'XdpError', code: 'ERR_XDP_BUSY' });
    expect(await program.call('open', {})).toBe('driver');
    await program.stop();
  });
});

describe('a program that somebody else has attached', () => {
  it('is left alone: the socket is refused', async () => {
    const pair = await pairFor();
    const [first, second] = await Promise.all([startAt(pair, {}), startAt(pair, {})]);
    await first.call('hold', 'driver');
    const id = pair.attached(pair.right);
    for (const mode of ['auto', 'driver', 'generic'] as const) {
      const failure = await second.failure('open', { mode });
      expect(failure).toMatchObject({ name: 'XdpError', code: 'ERR_XDP_BUSY' });
      expect(failure.hint).not.toBe('');
    }
    expect(pair.attached(pair.right)).toBe(id);
    // Sockets that only send attach nothing, and need no program of their own; but the queue is taken all the same.
    expect(await second.failure('open', { ports: [] })).toMatchObject({ code: 'ERR_XDP_BUSY' });
    await Promise.all([first.stop(), second.stop()]);
  });
});
