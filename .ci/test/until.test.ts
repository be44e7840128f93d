import { createSocket } from 'node:dgram';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Peer, refusingPort, send, sendOne } from './datagrams.js';
import { skip } from './requires.js';
import { inTime, until } from './until.js';

describe('a wait', () => {
  it('gives what it has waited for', async () => {
    let looks = 0;
    expect(await until('the third look', () => (++looks === 3 ? { looks } : undefined))).toEqual({ looks: 3 });
    expect(await until('nothing at all', async () => 0)).toBe(0);
    expect(await inTime('what is there', Promise.resolve('it'))).toBe('it');
  });

  it('in vain says for what, for how long, and what there is, and ends what would go on', async () => {
    const ended: string[] = [];
    const patience = { withinMs: 20, found: () => ['one'], inVain: () => ended.push('it') };
    const message = "waited 0.02 s in vain for two of them; there is: [ 'one' ]";
    await expect(until('two of them', () => false, patience)).rejects.toThrow(message);
    await expect(inTime('two of them', new Promise(() => {}), patience)).rejects.toThrow(message);
    // A look that never comes back is no hindrance.
    await expect(until('two of them', () => new Promise<boolean>(() => {}), patience)).rejects.toThrow(message);
    expect(ended).toEqual(['it', 'it', 'it']);
  });

  it('ends with what the condition throws', async () => {
    const broken = (): boolean => {
      throw new Error('it has ended');
    };
    await expect(until('an answer', broken)).rejects.toThrow(/^it has ended$/);
  });
});

describe('datagrams on loopback', () => {
  it('all arrive when they are sent at the pace of their reader', async () => {
    const peer = await Peer.open();
    const datagrams = Array.from({ length: 1000 }, (_, index) => Buffer.alloc(1400, index));
    await send(peer.port, datagrams);
    await peer.until(1000);
    expect(peer.dropped).toBe(0);
    expect(Buffer.concat(peer.received).equals(Buffer.concat(datagrams))).toBe(true);
    await peer.close();
  });

  it('are counted when there was no room for them', async () => {
    if (!existsSync('/proc/net/udp')) skip('this system has no /proc/net/udp: run the test on Linux');
    const peer = await Peer.open(4096);
    const socket = createSocket('udp4');
    // All at once: this thread sends, and cannot read meanwhile.
    await Promise.all(Array.from({ length: 500 }, () => sendOne(socket, Buffer.alloc(1400), peer.port)));
    await peer.until(500);
    expect(peer.dropped).toBeGreaterThan(0);
    expect(peer.received.length + peer.dropped).toBe(500);
    socket.close();
    await peer.close();
  });

  it('are refused by a port that nobody can take', async () => {
    const { port, close } = await refusingPort();
    const socket = createSocket('udp4');
    await inTime('a connected socket', new Promise<void>((resolve) => socket.connect(port, '127.0.0.1', resolve)));
    const refused = new Promise<Error>((resolve) => socket.once('error', resolve));
    socket.send('?');
    expect(await inTime('a refusal', refused)).toMatchObject({ code: 'ECONNREFUSED' });
    socket.close();
    close();
  });
});
