/** One file for the dashboard's thread and for the process of its queries: a bundled program has to give only this one. */
import { parentPort } from 'node:worker_threads';
import { answerQueries } from '../history/query-process.js';

if (parentPort === null) answerQueries();
else void import('./serve.js');
