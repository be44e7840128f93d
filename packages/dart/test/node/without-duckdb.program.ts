/** What is left of a store where DuckDB is not installed: everything but the history. */
import { DartStoreError, EpochStore } from '@int/dart/node';
import { keyOf, valueFor } from './values.js';

const directory = process.argv[2]!;
const store = await EpochStore.open(directory, { slots: 100, checkpointMs: 0 });
store.write(keyOf(1), valueFor(1, 1));
await store.checkpoint();
const [answer] = await store.query(keyOf(1));
console.log(answer?.answer.status);
await store.close();
await EpochStore.open(directory, { rotate: { load: 1 } }).catch((error: unknown) => {
  if (error instanceof DartStoreError) console.log(error.code, error.message);
});
