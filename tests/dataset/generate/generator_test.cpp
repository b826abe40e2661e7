#include "dataset/generate/generator.h"

#include <gtest/gtest.h>
