// Measures how well immediate events are found in scenarios that are known; see the README.
import { study } from './study/command.js';

study(process.argv.slice(2), console.log, console.error);
