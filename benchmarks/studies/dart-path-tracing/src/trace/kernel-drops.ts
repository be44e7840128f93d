import { readFileSync } from 'node:fs';

/** Datagrams to a UDP port that the kernel had no room for; null where the system does not say (only Linux does). */
export function kernelDrops(port: number): number | null {
  let table: string;
  try {
    table = readFileSync('/proc/net/udp', 'latin1');
  } catch {
    return null;
  }
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  for (const line of table.split('\n').slice(1)) {
    const fields = line.trim().split(/\s+/);
    if (fields[1]?.endsWith(`:${wanted}`) === true) return Number(fields.at(-1));
  }
  return null;
}
