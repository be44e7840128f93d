import { library } from '../../tsup.config.base.js';

export default library({
  index: 'src/index.ts',
  opentelemetry: 'src/opentelemetry/index.ts',
  'page-thread': 'src/page/page-thread.ts',
});
