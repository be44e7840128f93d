/**
 * One plan of a fat tree in a process that has done nothing before: prints the time of the call of `gpint` alone, floors and
 * measures included, as JSON. Other load adds to the elapsed time, helper threads of the engine to the
 * processor time. Arguments: ports of the switches, number of paths, seed.
 */
import { performance } from 'node:perf_hooks';
import { fatTreeGraph, gpint } from '@int/gpint';

const [ports = 88, paths = 2904, seed = 1] = process.argv.slice(2).map(Number);
const graph = fatTreeGraph(ports);
const usage = process.cpuUsage();
const begun = performance.now();
const plan = gpint(graph, { paths, seed });
const elapsedMs = performance.now() - begun;
const { user, system } = process.cpuUsage(usage);
const processorMs = (user + system) / 1000;
const { longest, shortest, overlap } = plan;
console.log(JSON.stringify({ elapsedMs, processorMs, longest, shortest, overlap, optimal: plan.optimal }));
