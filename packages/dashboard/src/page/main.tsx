import { render } from 'preact';
import { Shell } from './parts/shell.js';
import { askStatus, status } from './state/connection.js';
import { firstState } from './state/first-state.js';
import { askNetwork, network } from './state/network.js';
import './style/page.css';

// Switches that are seen for the first time get their names soon.
setInterval(() => {
  const isNew = network.value === null || network.value.learnt || network.value.switches.some(({ seen }) => !seen);
  if (isNew && document.visibilityState === 'visible' && status.value !== null) void askNetwork();
}, 5000);
render(<Shell />, document.getElementById('page')!);
if (firstState === null) void askStatus();
// The answer is long, and the first picture needs none of it.
requestAnimationFrame(() => setTimeout(askNetwork));
