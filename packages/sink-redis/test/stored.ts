import type { PackedFields, RedisWriterTotals, StoredFields } from '@int/sink-redis';
import { RESP_TYPES } from '@redis/client';
import type { Client } from './redis-server.js';

/** Names and values in turn, as Redis lists the fields of a hash or of an entry of a stream. */
function pairs<T>(list: readonly T[]): Record<string, T> {
  return Object.fromEntries(
    Array.from({ length: list.length / 2 }, (_, k) => [String(list[2 * k]), list[2 * k + 1]!] as const),
  );
}

/** A hash, by HGETALL. */
export async function hash(client: Client, key: string): Promise<Record<string, string>> {
  return pairs((await client.sendCommand(['HGETALL', key])) as unknown as string[]);
}

/** All entries of a stream, by XRANGE in pages. */
export async function stream(client: Client, key: string): Promise<StoredFields[]> {
  const all: StoredFields[] = [];
  let from = '-';
  for (;;) {
    const page = (await client.sendCommand(['XRANGE', key, from, '+', 'COUNT', '5000'])) as unknown as [
      string,
      string[],
    ][];
    for (const [id, fields] of page) {
      all.push(pairs(fields));
      from = `(${id}`;
    }
    if (page.length === 0) return all;
  }
}

/** All entries of a stream whose fields are bytes. */
export async function packedStream(client: Client, key: string): Promise<PackedFields[]> {
  const raw = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  const page = (await raw.sendCommand(['XRANGE', key, '-', '+'])) as unknown as [Buffer, Buffer[]][];
  return page.map(([, fields]) => pairs(fields));
}

/** What is neither written nor pending nor dropped; 0 if the accounts are right. */
export function unaccounted(totals: RedisWriterTotals): readonly number[] {
  return [totals.events, totals.entries, totals.values].map(({ dropped, offered, pending, delivered: written }) => {
    const lost = Object.values(dropped).reduce((sum, count) => sum + count, 0);
    return offered - written - pending - lost;
  });
}
