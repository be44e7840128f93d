import { library } from '../../tsup.config.base.js';

export default library({ index: 'src/index.ts', http: 'src/http/index.ts' });
