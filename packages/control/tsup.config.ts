import { library } from '../../tsup.config.base.js';

export default library({ index: 'src/index.ts', internals: 'src/internals.ts' });
