#pragma once
constexpr float kGain = 1.25f;
