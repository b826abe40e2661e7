// All that passes between those who want jobs done and those who do them.
#pragma once

#include "fleet/queue/job_queue.h"
#include "fleet/queue/job_source.h"
#include "fleet/queue/notice_board.h"

namespace regraph::fleet {

class Broker : public JobQueue, public JobSource, public NoticeBoard {};

}  // namespace regraph::fleet
