import { render } from 'preact';
import { Shell } from './parts/shell.js';
import { askStatus, status } from './state/connection.js';
import { askNetwork, network } from './state/network.js';
import './style/page.css';

void askStatus();
void askNetwork();
// Switches that are seen for the first time get their names soon.
setInterval(() => {
  const isNew = network.value === null || network.value.learnt || network.value.switches.some(({ seen }) => !seen);
  if (isNew && document.visibilityState === 'visible' && status.value !== null) void askNetwork();
}, 5000);
render(<Shell />, document.getElementById('page')!);
