import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { StockPorts } from './stock-ports.js';
import { python } from './stock-tools.js';

test('ports carry whole frames both ways, in their order, and nothing else', async () => {
  const command = python();
  const standIn = fileURLToPath(new URL('stand_in.py', import.meta.url));
  const ports = new StockPorts(command, [1, 2], [command, standIn], 150);
  try {
    const frame = (first: number, length: number): Uint8Array => new Uint8Array(length).fill(7).fill(first, 0, 1);
    const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
    // Until the stand-in listens.
    let first = await ports.send(1, frame(3, 60));
    for (let tries = 0; first.length === 0 && tries < 40; tries++) first = await ports.send(1, frame(3, 60));
    expect(first).toEqual([{ port: 2, hex: hex(frame(4, 60)) }]);
    expect(await ports.send(1, frame(0xff, 60))).toEqual([]);
    expect(await ports.send(2, frame(9, 2000))).toEqual([1, 2].map((port) => ({ port, hex: hex(frame(9, 2000)) })));
    expect(await ports.send(1, frame(1, 14))).toEqual([{ port: 2, hex: hex(frame(2, 14)) }]);
    expect(await ports.run(['cat'], 'a\nb')).toEqual({ said: ['a', 'b'], status: 0 });
  } finally {
    await ports.close();
  }
});
