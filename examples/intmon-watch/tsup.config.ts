import { library } from '../../tsup.config.base.js';

export default library({ main: 'src/main.ts' }, { format: ['esm'] });
